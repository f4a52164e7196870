"""The progress bar on a terminal."""

from typing import Any

from tqdm import tqdm

from .durations import duration

_FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt}, {rate_fmt}{left}"


class Bar(tqdm):  # type: ignore[type-arg]  # generic in its type stubs only
    """A bar of bytes, with the time that is left as a duration; the one of tqdm reads like a clock."""

    def __init__(self, total: int, title: str) -> None:
        super().__init__(
            total=total,
            desc=title,
            leave=False,
            unit="B",
            unit_scale=True,
            unit_divisor=1024,
            bar_format=_FORMAT,
        )

    @property
    def format_dict(self) -> dict[str, Any]:
        """The values of the format."""
        values = dict(super().format_dict)
        rate, done, total = values["rate"], values["n"], values["total"]
        left = f", {duration((total - done) / rate)} left" if rate and total else ""
        return {**values, "left": left}
