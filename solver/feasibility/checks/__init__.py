"""One file per group of checks. `check_table.CHECKS` has a row for each check, and nothing else names one."""
