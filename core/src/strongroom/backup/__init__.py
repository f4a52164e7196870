"""Backup: the database, the local files and the keys in one archive, consistent as of one moment."""
