"""Serves read-only directory listings for browsers, curl and wget."""
