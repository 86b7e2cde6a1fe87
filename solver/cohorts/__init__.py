"""A study of many: every subject of a folder by itself, resumed where it was stopped, and one page for all."""
