"""The version of the server and of all plugins in this tree; each pyproject.toml reads it from here.

Between two releases it is a development version, which ``make release`` writes after the tag.
"""

__version__ = "0.2.0.dev0"
