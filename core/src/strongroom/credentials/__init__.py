"""Credentials: the names and passwords that identify users."""
