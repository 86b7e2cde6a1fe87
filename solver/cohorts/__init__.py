"""Cohorts: every subject of a folder is identified by itself; a stopped run can be resumed; one page for all."""
