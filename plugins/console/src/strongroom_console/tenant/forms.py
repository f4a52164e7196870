"""What several forms of a tenant share."""

from typing import Final

OVERLAPS: Final = {0: "overlap-none", 3600: "hour-1", 86400: "day-1", 604800: "days-7"}
"""The keys of the times for which a replaced secret stays valid, by their seconds."""
