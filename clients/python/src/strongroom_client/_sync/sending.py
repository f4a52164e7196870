"""Sends operations, and iterates over lists."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

from ..operations import UNSET, Item_co, Operation, Page, Result_co
from .session import Session

PAGE_SIZE = 200
"""Records of a page that methods ask for: as many as the server returns at once."""


class Sender:
    """Sends operations.

    Args:
        session: sends the requests.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def send(self, operation: Operation[Result_co]) -> Result_co:
        """Send an operation of ``strongroom_client.api`` and return its result.

        Raises:
            ApiError: the server refused it.
            ConnectionFailed: there was no response.
        """
        return self._session.send(operation)

    def iterate(self, operation: Operation[Page[Item_co]]) -> Iterator[Item_co]:
        """Iterate over all records of a list, page by page.

        Each record that exists throughout is returned once, whatever else is created or removed.

        Args:
            operation: returns the first page, which is read by cursor unless it has a number.
        """
        following: Operation[Page[Item_co]] | None = _by_cursor(operation)
        while following is not None:
            page = self.send(following)
            for item in page.data:
                yield item
            following = _next(following, page.meta.next_page_link)

    def lines(self, operation: Operation[bytes]) -> Iterator[bytes]:
        """Iterate over the lines of a result, while they arrive."""
        rest = b""
        with self._session.stream(operation) as response:
            for piece in response.iter_bytes():
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    yield line


def _by_cursor(operation: Operation[Page[Item_co]]) -> Operation[Page[Item_co]]:
    query = operation.query
    is_begun = any(query.get(name, UNSET) is not UNSET for name in ("pageNumber", "cursor"))
    return operation if is_begun else replace(operation, query={**query, "cursor": ""})


def _next(operation: Operation[Page[Item_co]], link: str | None) -> Operation[Page[Item_co]] | None:
    """Return the operation for the next page.

    Only the query of the link is taken, because this client may reach the server by another URL than its
    public one.
    """
    if link is None:
        return None
    return replace(operation, query=dict(parse_qsl(urlsplit(link).query)))
