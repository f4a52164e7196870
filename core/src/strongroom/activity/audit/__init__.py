"""Audit: a tamper-evident log of events, their actors and outcomes."""
