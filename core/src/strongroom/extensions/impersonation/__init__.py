"""Impersonation: administrators see what a user sees, for a limited time."""
