"""The OpenAPI document."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final

import flask_smorest
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.common import resolve_schema_cls
from flask import Flask

from strongroom.foundation.errors import StrongroomError, catalogue
from strongroom.plugin_api.web import ErrorKind
from strongroom.web.http.errors import ErrorSchema
from strongroom.web.http.header_descriptions import request_header, response_headers
from strongroom.web.http.openapi_descriptions import describe_schemas, markdown
from strongroom.web.http.openapi_examples import add_examples
from strongroom.web.http.openapi_rules import state_rules
from strongroom.web.http.parsing import API_FIELDS
from strongroom.web.http.route_descriptions import HEADERS_KEY
from strongroom.web.http.routing import Blueprint

OPENAPI_VERSION: Final = "3.1.0"
ERRORS_KEY: Final = "x-errors"
"""The extension of the document that lists all errors, for generators of clients."""

_METHODS: Final = frozenset({"get", "put", "post", "delete", "options", "head", "patch"})
_NO_HEADERS: Final[Mapping[str, Mapping[str, str]]] = {"request": {}, "response": {}}
_PATH_PARAMETERS: Final = {"reference": "accessToken"}
"""Path parameters whose name in the API differs from the view's parameter."""

Json = dict[str, Any]

# One scheme, because a request with two different tokens is refused.
_SECURITY_SCHEMES: Final[dict[str, dict[str, str]]] = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "An access token, or an access key (`srk_...`) with the scope that the operation "
        "names in `x-access-key-scope`. The header `X-Access-Token` takes the same value instead.",
    },
}


class Description:
    """The OpenAPI document, built lazily, because few processes ever serve it.

    Args:
        server_url: the public root URL of the API.
    """

    def __init__(
        self,
        blueprints: Iterable[Blueprint],
        *,
        version: str,
        server_url: str,
        base_path: str,
        errors: Iterable[ErrorKind] = (),
    ) -> None:
        self._blueprints = tuple(blueprints)
        self._errors = tuple(errors)
        self._version = version
        self._server_url = server_url
        self._base_path = base_path
        self._names = _SchemaNames()

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The document as JSON values."""
        # Built with a separate application, because the serving one accepts no blueprints after its
        # first request.
        app = Flask("description", static_folder=None)
        app.config.update(
            API_TITLE="Strongroom", API_VERSION=self._version, OPENAPI_VERSION=OPENAPI_VERSION
        )
        api = _Api(spec_kwargs=self._options())
        # Before the application, because the schema of errors is described with it.
        for field in API_FIELDS:
            api.register_field(*field)
        api.init_app(app)
        for name, scheme in _SECURITY_SCHEMES.items():
            api.spec.components.security_scheme(name, scheme)
        for blueprint in self._blueprints:
            api.register_blueprint(blueprint.described(), url_prefix=self._base_path or None)
        document = api.spec.to_dict()
        # The content of a header of flask-smorest, which has fewer members than ``meta``.
        document["components"]["schemas"].pop("PaginationMetadata", None)
        state_rules(document, self._names.classes)
        describe_schemas(document["components"]["schemas"], self._names.classes)
        return {**_completed(document), ERRORS_KEY: self._catalogue()}

    def _catalogue(self) -> list[Json]:
        kinds: list[ErrorKind | type[StrongroomError]] = [*catalogue(), *self._errors]
        kinds.sort(key=lambda kind: (kind.status, kind.code))
        return [{"code": each.code, "status": each.status, "message": each.message} for each in kinds]

    def _options(self) -> dict[str, Any]:
        return {
            "info": {"description": "A self-hosted server for user accounts and files."},
            "servers": [{"url": self._server_url}],
            "marshmallow_plugin": MarshmallowPlugin(schema_name_resolver=self._names),
        }


class _Api(flask_smorest.Api):  # type: ignore[misc]  # flask-smorest has no types
    """Collects the operations of blueprints for the document."""

    ERROR_SCHEMA = ErrorSchema


def _completed(document: Json) -> Json:
    """Return the document with camel-case path parameters and with descriptions of headers."""
    document["paths"] = {_camel_case(path): item for path, item in document["paths"].items()}
    for item in document["paths"].values():
        for each in item.get("parameters", ()):
            each["name"] = _parameter_name(each["name"])
        for method in _METHODS & item.keys():
            if text := item[method].get("description"):
                item[method]["description"] = markdown(text)
            _describe_headers(item[method])
    document["components"]["responses"]["DEFAULT_ERROR"]["headers"] = response_headers("default")
    add_examples(document)
    return document


def _camel_case(path: str) -> str:
    """Return a path with its parameters in camel case, such as ``/users/{userId}``."""
    return re.sub(r"{(\w+)}", lambda match: f"{{{_parameter_name(match[1])}}}", path)


def _parameter_name(name: str) -> str:
    first, *others = _PATH_PARAMETERS.get(name, name).split("_")
    return first + "".join(map(str.capitalize, others))


def _describe_headers(operation: Json) -> None:
    # A route that a plugin has added without `operation` declares none.
    names = operation.pop(HEADERS_KEY, _NO_HEADERS)
    if names["request"]:
        parameters = itertools.starmap(request_header, names["request"].items())
        operation.setdefault("parameters", []).extend(parameters)
    for status, response in operation["responses"].items():
        if "$ref" not in response:
            own = names["response"] if status.startswith(("2", "3")) else {}
            response["headers"] = response_headers(status, own)


class _SchemaNames:
    """Names schemas by their classes; a schema of a plugin never changes the name of another one."""

    def __init__(self) -> None:
        self.classes: dict[str, Any] = {}

    def __call__(self, schema: Any) -> str:
        kind: Any = resolve_schema_cls(schema)
        return next(name for name in _names(kind) if self.classes.setdefault(name, kind) is kind)


def _names(kind: type[Any]) -> Iterator[str]:
    """Yield the names that a schema may have: its own, with its package, and with a number."""
    name = kind.__name__.removesuffix("Schema")
    yield name
    package = kind.__module__.partition(".")[0].removeprefix("strongroom_")
    name = "".join(word.capitalize() for word in package.split("_")) + name
    yield name
    yield from (f"{name}{number}" for number in itertools.count(2))
