"""Backup: a consistent archive of the database, the local files and the keys."""
