"""Invitations to tenants."""
