"""Documents at well-known paths, by which clients discover services (RFC 8615)."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from flask import Response

from strongroom.plugin_api.discovery import DiscoveryDocument
from strongroom.web.http.access import Access
from strongroom.web.http.caching import CACHE_CONTROL, public
from strongroom.web.http.response import json_response
from strongroom.web.http.routing import Blueprint

DISCOVERY: Final = "discovery"
"""The name of the blueprint of these routes."""

FOLDER: Final = "/.well-known/"

_NAME: Final = re.compile(r"[a-z0-9-]+(\.json)?(/[a-z0-9-]+)*")
_MAX_AGE_SECONDS: Final = 300
_PREFLIGHT_SECONDS: Final = 7200
_HEADERS: Final = ((CACHE_CONTROL, public(_MAX_AGE_SECONDS)), ("Access-Control-Allow-Origin", "*"))
_PREFLIGHT: Final = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": "*",
    "Access-Control-Max-Age": str(_PREFLIGHT_SECONDS),
}
"""The documents are public, so that scripts may send any header, such as the one of a protocol."""

Documents = Mapping[str, Mapping[str, Any]]
"""The members of the documents by their names."""


def merge_documents(items: Iterable[tuple[str, Any]], routes: Collection[str]) -> Documents:
    """Return the documents of all plugins.

    Args:
        items: what the hook returned, each with the plugin.
        routes: the paths of routes.

    Raises:
        ValueError: an item is invalid, or two plugins set a member differently. The message has the
            plugin, the place and the remedy.
    """
    documents: dict[str, dict[str, Any]] = {}
    owners: dict[tuple[str, str], str] = {}
    for plugin, item in items:
        if fault := _find_fault(item, routes):
            raise ValueError(f"{plugin}: {fault}")
        document = documents.setdefault(item.name, {})
        for member, value in item.members.items():
            owner = owners.setdefault((item.name, member), plugin)
            if document.setdefault(member, value) != value:
                place = f'"{member}" of {FOLDER}{item.name}'
                raise ValueError(f"{owner} and {plugin} set {place} differently; enable one of them")
    return documents


def _find_fault(item: Any, routes: Collection[str]) -> str | None:
    if not isinstance(item, DiscoveryDocument):
        return f"returned {item!r} from register_discovery; expected a DiscoveryDocument"
    name: Any = item.name
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return f'the discovery document {name!r} needs a name such as "openid-configuration"'
    if FOLDER + item.name in routes:
        return f"{FOLDER}{item.name} is also a route; choose another name"
    try:
        json.dumps(dict(item.members))
    except (TypeError, ValueError) as error:
        return f"the discovery document {item.name!r} is no JSON: {error}"
    return None


def discovery_blueprint(documents: Documents, inserted: str = "") -> Blueprint:
    """Return the routes of the documents.

    Args:
        inserted: the base path of the server, for the routes outside of it, whose paths end with it.
    """
    name = f"{DISCOVERY}-outside" if inserted else DISCOVERY
    blueprint = Blueprint(name, description="What clients discover about the server.")
    for name, members in documents.items():
        slug = re.sub(r"\W", "_", name)
        # Before GET, whose route would answer OPTIONS, too.
        for method, verb, view, responses in (
            ("OPTIONS", "check", _preflight(), {"204": {"description": "Scripts may read it"}}),
            ("GET", "get", _document(members), {"200": {"description": "The document"}}),
        ):
            view.__name__ = f"{verb}_{slug}"
            blueprint.operation(
                method,
                _path(name, inserted),
                access=Access.PUBLIC,
                any_query=True,
                document={"responses": responses},
            )(view)
    return blueprint


def _path(name: str, base_path: str) -> str:
    """Return the path of a document: the base path is behind its first word (RFC 8414, section 3)."""
    first, separator, rest = name.partition("/")
    return f"{FOLDER}{first}{base_path}{separator}{rest}"


def _document(members: Mapping[str, Any]) -> Callable[[], Response]:
    content = json.dumps(members, ensure_ascii=False)

    def view() -> Response:
        """Get a document by which clients discover a service (RFC 8615).

        Scripts of any origin may read it, and clients may store it for minutes.
        """
        return json_response(content, headers=_HEADERS)

    return view


def _preflight() -> Callable[[], Response]:
    def view() -> Response:
        """Answer a browser that checks whether its script may read the document.

        It may, whatever headers it sends: the document is public.
        """
        response = Response(status=204, headers=_PREFLIGHT)
        del response.headers["Content-Type"]
        return response

    return view
