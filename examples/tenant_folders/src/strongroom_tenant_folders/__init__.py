"""Creates the usual folders in each new tenant."""
