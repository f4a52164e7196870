"""Passwords of users who cannot log in."""
