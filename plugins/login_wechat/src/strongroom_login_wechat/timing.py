"""How the plugin sees time, so that a test can give it another."""

from collections.abc import Callable

Clock = Callable[[], float]
"""Gives the time in seconds since the Unix epoch."""

Sleep = Callable[[float], object]
"""Waits a number of seconds."""
