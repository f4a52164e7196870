"""Search by name and other properties."""
