"""The services of the core for the routes of plugins."""
