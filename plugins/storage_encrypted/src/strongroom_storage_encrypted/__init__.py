"""Storage wrapper that encrypts objects."""
