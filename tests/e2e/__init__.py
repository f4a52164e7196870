"""A real server, from the outside: as deployers, clients and power cuts know it."""
