"""The command line."""

from strongroom.cli.main import main

__all__ = ["main"]
