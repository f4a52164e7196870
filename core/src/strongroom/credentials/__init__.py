"""Credentials: the names and passwords that lead to users."""
