"""The Location header of created resources (RFC 9110, section 15.3.2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast

from flask import Response, after_this_request, url_for

from strongroom.web.components import use
from strongroom.web.requests import PublicUrl

ViewT = TypeVar("ViewT")


@dataclass(frozen=True, slots=True)
class Location:
    """How to build the URL of a created resource.

    Args:
        endpoint: the Flask endpoint of the resource's GET route.
        fields: the members of the view's result, by the names of the path parameters.
    """

    endpoint: str
    fields: Mapping[str, str]

    def url(self, created: Any) -> str:
        """Return the absolute URL of a created resource."""
        values: dict[str, Any] = {name: _member(created, member) for name, member in self.fields.items()}
        return use(PublicUrl).root + url_for(self.endpoint, **values)


def with_location(view: ViewT, location: Location) -> ViewT:
    """Wrap a view, so that its 201 responses have a Location."""

    @wraps(cast("Any", view))
    def located(*args: Any, **kwargs: Any) -> Any:
        result = cast("Any", view)(*args, **kwargs)
        url = location.url(result[0] if isinstance(result, tuple) else result)

        @after_this_request
        def add(response: Response) -> Response:
            if response.status_code == 201:  # noqa: PLR2004  created
                response.headers["Location"] = url
            return response

        return result

    return cast("ViewT", located)


def _member(created: Any, name: str) -> str:
    value = created[name] if isinstance(created, Mapping) else getattr(created, name)
    return str(value)
