"""Points in time: milliseconds since the Unix epoch in Python, ISO 8601 in UTC in JSON."""

from strongroom.clock import iso_format

__all__ = ["iso_format"]
