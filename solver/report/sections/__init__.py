"""Sections of the report's page, by subject: each one function from the content to markup."""
