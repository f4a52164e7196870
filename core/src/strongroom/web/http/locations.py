"""Public URLs of resources and requests."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

from flask import current_app, url_for

from strongroom.foundation.plugins.hook_calls import WrongResult
from strongroom.plugin_api.web import Location
from strongroom.web.http.request import PublicUrl, current_environ, get_service, request_path


def created_url(location: Location, created: Any, parameters: Mapping[str, Any]) -> str:
    """Return the absolute URL of a resource that a request with path parameters has created.

    Raises:
        WrongResult: the result of the view has no such member.
    """
    get = created.__getitem__ if isinstance(created, Mapping) else partial(getattr, created)
    try:
        values: dict[str, Any] = {name: str(get(member)) for name, member in location.fields.items()}
    except (AttributeError, KeyError) as error:
        raise WrongResult(f"the result has no member for its location: {error}") from error
    rule = next(current_app.url_map.iter_rules(location.endpoint))
    others = {name: parameters[name] for name in rule.arguments - values.keys()}
    return absolute_url(location.endpoint, **others, **values)


def own_url() -> str:
    """Return the public URL of the request, without its query."""
    return get_service(PublicUrl).root + quote(request_path())


def absolute_url(endpoint: str, **values: Any) -> str:
    """Return the public URL of an endpoint. It never depends on the Host header of the request."""
    return get_service(PublicUrl).root + _make_path(endpoint, values)


def _make_path(endpoint: str, values: Mapping[str, Any]) -> str:
    """Return the path of an endpoint, as ``url_for``.

    That creates Flask's request and searches all rules, which takes as long as several queries.
    """
    app = current_app
    # Blueprints of plugins may name their endpoints relatively, or have defaults for parameters.
    is_plain = not endpoint.startswith(".") and not app.url_default_functions
    found = next(app.url_map.iter_rules(endpoint)).build(values) if is_plain else None
    if found is None:
        return url_for(endpoint, **values)
    script_name: str = current_environ().get("SCRIPT_NAME", "")
    return script_name + found[1]
