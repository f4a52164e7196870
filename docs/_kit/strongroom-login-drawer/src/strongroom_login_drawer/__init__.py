"""Logs Strongroom's users in by a file of accounts."""
