"""Generators of the reference: one module per page, and shared helpers."""
