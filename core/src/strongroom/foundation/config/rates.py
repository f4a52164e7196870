"""Rates such as ``5/hour``, the syntax of limits in the configuration."""

import re
from dataclasses import dataclass
from typing import Final, Self

SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
_FORM = re.compile(r"([1-9][0-9]{0,8})/(second|minute|hour|day)")


@dataclass(frozen=True, slots=True)
class Rate:
    """At most ``count`` events per ``seconds``."""

    count: int
    seconds: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``N/second``, ``N/minute``, ``N/hour`` or ``N/day``.

        Raises:
            ValueError: the text has a different form.
        """
        match = _FORM.fullmatch(text)
        if match is None:
            raise ValueError('must be like "5/hour": a number, then /second, /minute, /hour or /day')
        return cls(int(match[1]), SECONDS[match[2]])

    def __str__(self) -> str:
        unit = next(name for name, seconds in SECONDS.items() if seconds == self.seconds)
        return f"{self.count}/{unit}"


def rates(*texts: str) -> tuple[Rate, ...]:
    """Parse several rates."""
    return tuple(map(Rate.parse, texts))
