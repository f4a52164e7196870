"""Fast path for the details of a file or folder."""

from functools import lru_cache
from typing import Final

from strongroom.clock import Clock
from strongroom.database.reader import Reader
from strongroom.files.fast_path.looking import NodeLookup, look_up
from strongroom.files.fast_path.rendering import as_json, rendered
from strongroom.web.fast_path import FastRoute, PlainAnswer, PlainRequest


class FastDetails:
    """Returns one node as JSON."""

    def __init__(self, reader: Reader, clock: Clock) -> None:
        self._lookup = NodeLookup(reader, clock, look_up())

    def route(self) -> FastRoute:
        """Return the fast route."""
        return FastRoute("/api/v1/tenants/<tenant_id>/files/<file_id>", self._answer)

    def _answer(self, request: PlainRequest) -> PlainAnswer | None:
        if request.query:
            return None
        seen = self._lookup.find(request.claims, request.places, request.places["file_id"])
        if seen is None:
            return None
        tag = ("ETag", f'"{seen.view.node.revision}"')
        return as_json(_rendered(seen.view), [tag])


_rendered: Final = lru_cache(maxsize=4096)(rendered)
