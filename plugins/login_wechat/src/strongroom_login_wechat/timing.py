"""Types of the clock and sleep functions, which tests replace."""

from collections.abc import Callable

Clock = Callable[[], float]
"""Returns the time in seconds since the Unix epoch."""

Sleep = Callable[[float], object]
"""Sleeps for a number of seconds."""
