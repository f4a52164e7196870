"""Serves the files of a user to agents by the Model Context Protocol."""
