"""Generates the parts of the client that need no hand."""
