"""Storage backend for a local folder."""
