"""Built-in extensions, registered through the same hooks as plugins."""
