"""Adds the name of the node to each response."""
