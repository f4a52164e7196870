"""Finds and selects plugins."""
