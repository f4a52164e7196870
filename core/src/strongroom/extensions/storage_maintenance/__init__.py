"""Maintenance of storages: checks, and migrations to another storage."""
