"""Limits: rate limits and counters, exact across processes and machines."""
