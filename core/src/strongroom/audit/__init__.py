"""Audit: what happened, who did it, and how it ended."""
