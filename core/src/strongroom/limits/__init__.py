"""Limits: how often something may happen, exact across processes and machines."""
