"""Checks and corrections of force plates before anything is fitted: findings with their evidence."""
