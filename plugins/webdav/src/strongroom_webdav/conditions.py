"""If-Match and If-None-Match (RFC 9110, section 13), and If (RFC 4918, section 10.4)."""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from strongroom_webdav.errors import DavError
from strongroom_webdav.requests import DavRequest, Path
from strongroom_webdav.resources import Resource

_LIST: Final = re.compile(
    r"\s*(?:<(?P<url>[^>]*)>\s*)?\((?P<items>(?:<[^>]*>|\[[^\]]*\]|[^<>()\[\]])*)\)"
)
_ITEM: Final = re.compile(
    r"\s*(?P<no>Not\s+)?(?:<(?P<token>[^>]*)>|\[(?P<tag>[^\]]*)\])\s*", re.IGNORECASE
)
_TAGS: Final = re.compile(r'\s*(?:W/)?"[^"]*"\s*(?:,|$)')


@dataclass(frozen=True, slots=True)
class StateItem:
    """A condition of a list: a lock token or an entity tag, which the resource has or has not."""

    token: str | None
    tag: str | None
    is_negated: bool


@dataclass(frozen=True, slots=True)
class StateList:
    """A list of conditions, which must all be met.

    Args:
        path: the resource; ``None``: the request's.
    """

    path: Path | None
    items: tuple[StateItem, ...]


@dataclass(frozen=True, slots=True)
class IfHeader:
    """The lists of a header If, one of which must be met; none without the header."""

    lists: tuple[StateList, ...] = ()

    @property
    def tokens(self) -> frozenset[str]:
        """All lock tokens that the request submits (RFC 4918, section 10.4.1)."""
        items = (item for one in self.lists for item in one.items)
        return frozenset(item.token for item in items if item.token is not None)


TokensCovering = Callable[[Path, Resource | None], Collection[str]]
"""Returns the tokens of the locks that cover a path."""


def parse_if(request: DavRequest) -> IfHeader:
    """Return the header If of a request.

    Raises:
        DavError: it is malformed, or names a resource of another server.
    """
    return IfHeader(tuple(_parse_lists(request, request.header("If") or "")))


def _parse_lists(request: DavRequest, sent: str) -> Iterator[StateList]:
    path: Path | None = None
    position = 0
    sent = sent.strip()
    while position < len(sent):
        match = _LIST.match(sent, position)
        if match is None:
            raise DavError(HTTPStatus.BAD_REQUEST, "The header If is malformed.")
        # A URL applies to all lists that follow, until the next one.
        if match["url"] is not None:
            path = request.find_path(match["url"])
        yield StateList(path, tuple(_parse_items(match["items"])))
        position = match.end()


def _parse_items(text: str) -> Iterator[StateItem]:
    position = 0
    while position < len(text) or position == 0:
        match = _ITEM.match(text, position)
        if match is None:
            raise DavError(HTTPStatus.BAD_REQUEST, "The header If is malformed.")
        yield StateItem(match["token"], match["tag"], match["no"] is not None)
        position = match.end()


def require_tags(request: DavRequest, resource: Resource | None) -> None:
    """Check If-Match and If-None-Match of a change, against the present resource.

    Raises:
        DavError: 412.
    """
    expected, excluded = request.header("If-Match"), request.header("If-None-Match")
    if expected is not None and not _matches(expected, resource):
        raise DavError(HTTPStatus.PRECONDITION_FAILED, "If-Match is false.")
    if excluded is not None and _matches(excluded, resource):
        raise DavError(HTTPStatus.PRECONDITION_FAILED, "If-None-Match is false.")


def _matches(sent: str, resource: Resource | None) -> bool:
    if resource is None:
        return False
    return sent.strip() == "*" or resource.etag in [tag.strip(" ,\t") for tag in _TAGS.findall(sent)]


def is_met(
    header: IfHeader,
    path: Path,
    find: Callable[[Path], Resource | None],
    tokens_covering: TokensCovering,
) -> bool:
    """Return whether one of the lists of a header If is met, or there is none.

    Args:
        path: the path of the request.
        find: returns what a path leads to.
    """
    return not header.lists or any(
        _is_list_met(one, one.path or path, find, tokens_covering) for one in header.lists
    )


def _is_list_met(
    one: StateList,
    path: Path,
    find: Callable[[Path], Resource | None],
    tokens_covering: TokensCovering,
) -> bool:
    resource = find(path)
    has_tokens = any(item.token is not None for item in one.items)
    tokens = tokens_covering(path, resource) if has_tokens else ()
    etag = resource.etag if resource else None
    return all(
        (item.tag == etag if item.token is None else item.token in tokens) is not item.is_negated
        for item in one.items
    )
