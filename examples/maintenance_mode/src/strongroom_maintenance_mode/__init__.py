"""Refuses requests during maintenance."""
