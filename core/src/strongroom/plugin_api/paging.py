"""Pages of lists."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ResultPage(Generic[T]):
    """A page of a list.

    Args:
        items: the records of the page.
        total: the number of records of the whole list.
        number: the number of the page, starting at 1.
        size: the maximum number of records of a page.
    """

    items: Sequence[T]
    total: int
    number: int
    size: int

    @property
    def next(self) -> int | None:
        """The number of the next page; ``None`` for the last one."""
        return self.number + 1 if self.number * self.size < self.total else None
