"""A second factor: a printed card with a grid of numbers."""
