"""Simulated vendors and authenticators: the other side of plugins, for tests and development."""
