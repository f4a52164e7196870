"""Checks of a server for production."""
