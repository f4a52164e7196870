"""Keeps Strongroom's files in a folder."""
