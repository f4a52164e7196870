"""The version of the server and of all plugins in this tree; each pyproject.toml reads it from here."""

__version__ = "0.1.0"
