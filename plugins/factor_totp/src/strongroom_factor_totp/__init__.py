"""Codes of authenticator apps as a second factor."""
