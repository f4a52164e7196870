"""Creation of the first administrator with a one-time link."""
