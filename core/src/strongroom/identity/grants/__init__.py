"""Grants: what users let clients do."""
