"""Tenants and their members."""
