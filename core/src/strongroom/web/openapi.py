"""The OpenAPI document, and an interactive page for it that needs nothing from elsewhere."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final

import flask_smorest
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.common import resolve_schema_cls
from flask import Flask, Response, jsonify
from flask_swagger_ui import get_swaggerui_blueprint

from strongroom.web.errors import ErrorSchema

DOCUMENT_PATH: Final = "/openapi.json"
PAGE_PATH: Final = "/docs"
OPENAPI_VERSION: Final = "3.1.0"

_SECURITY_SCHEMES: Final[dict[str, dict[str, str]]] = {
    "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "accessToken": {"type": "apiKey", "in": "header", "name": "X-Access-Token"},
}


class Description:
    """The document of an API, made when somebody first asks for it, which few processes are.

    Args:
        blueprints: the operations.
        version: the version of the API.
        server_url: where the API is.
        base_path: what all of its paths begin with.
    """

    def __init__(
        self,
        blueprints: Iterable[flask_smorest.Blueprint],
        *,
        version: str,
        server_url: str,
        base_path: str,
    ) -> None:
        self._blueprints = tuple(blueprints)
        self._version = version
        self._server_url = server_url
        self._base_path = base_path

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The document, as :rfc:`8259` values."""
        # Of an application of its own: one that serves takes no blueprints after its first request.
        app = Flask("description", static_folder=None)
        app.config.update(
            API_TITLE="Strongroom", API_VERSION=self._version, OPENAPI_VERSION=OPENAPI_VERSION
        )
        api = _Api(app, spec_kwargs=self._options())
        for name, scheme in _SECURITY_SCHEMES.items():
            api.spec.components.security_scheme(name, scheme)
        for blueprint in self._blueprints:
            api.register_blueprint(blueprint, url_prefix=self._base_path + (blueprint.url_prefix or ""))
        document: Mapping[str, Any] = api.spec.to_dict()
        return document

    def _options(self) -> dict[str, Any]:
        return {
            "info": {"description": "Who your users are, and what they keep."},
            "servers": [{"url": self._server_url}],
            "marshmallow_plugin": MarshmallowPlugin(schema_name_resolver=_schema_name),
        }


class _Api(flask_smorest.Api):  # type: ignore[misc]  # flask-smorest has no types
    """Collects the operations of blueprints into the document."""

    ERROR_SCHEMA = ErrorSchema

    def _register_error_handlers(self) -> None:
        """Leave errors to :mod:`strongroom.web.errors`."""


def serve_description(app: Flask, description: Description, base_path: str) -> None:
    """Give the application the document of its API, and a page to look at it."""

    def document() -> Response:
        return jsonify(description.document)

    app.add_url_rule(base_path + DOCUMENT_PATH, "openapi_document", document)
    page = get_swaggerui_blueprint(
        base_path + PAGE_PATH, base_path + DOCUMENT_PATH, config={"app_name": "Strongroom"}
    )
    app.register_blueprint(page)


def _schema_name(schema: Any) -> str:
    kind: Any = resolve_schema_cls(schema)
    return str(kind.__name__).removesuffix("Schema")
