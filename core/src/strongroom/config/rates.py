"""Rates such as ``5/hour``, as limits are written in the configuration."""

import re
from dataclasses import dataclass
from typing import Final, Self

SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
_FORM = re.compile(r"([1-9][0-9]{0,8})/(second|minute|hour|day)")


@dataclass(frozen=True, slots=True)
class Rate:
    """At most ``count`` events in any ``seconds``."""

    count: int
    seconds: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``N/second``, ``N/minute``, ``N/hour`` or ``N/day``.

        Raises:
            ValueError: the text has another form.
        """
        match = _FORM.fullmatch(text)
        if match is None:
            raise ValueError('must be like "5/hour": a number, then /second, /minute, /hour or /day')
        return cls(int(match[1]), SECONDS[match[2]])

    def __str__(self) -> str:
        unit = next(name for name, seconds in SECONDS.items() if seconds == self.seconds)
        return f"{self.count}/{unit}"


def rates(*texts: str) -> tuple[Rate, ...]:
    """Return the rates that the texts spell."""
    return tuple(map(Rate.parse, texts))
