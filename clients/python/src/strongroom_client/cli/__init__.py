"""The command ``strongroom-client``."""

from .commands import main

__all__ = ["main"]
