"""A tree of files that random steps change, and its model in plain Python."""
