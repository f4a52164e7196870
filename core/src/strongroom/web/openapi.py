"""The OpenAPI document, and an interactive page for it that needs nothing from elsewhere."""

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


class Api(flask_smorest.Api):  # type: ignore[misc]  # flask-smorest has no types
    """Collects the operations of blueprints into the document."""

    ERROR_SCHEMA = ErrorSchema

    def _register_error_handlers(self) -> None:
        """Leave errors to :mod:`strongroom.web.errors`."""


def create_api(app: Flask, *, version: str, server_url: str, base_path: str) -> Api:
    """Give the application its API document and page; blueprints are registered with the result."""
    app.config.update(
        API_TITLE="Strongroom",
        API_VERSION=version,
        OPENAPI_VERSION=OPENAPI_VERSION,
        JSON_SORT_KEYS=False,
    )
    options: dict[str, Any] = {
        "info": {"description": "Who your users are, and what they keep."},
        "servers": [{"url": server_url}],
        "marshmallow_plugin": MarshmallowPlugin(schema_name_resolver=_schema_name),
    }
    api = Api(app, spec_kwargs=options)
    for name, scheme in _SECURITY_SCHEMES.items():
        api.spec.components.security_scheme(name, scheme)
    _serve_document(app, api, base_path)
    page = get_swaggerui_blueprint(
        base_path + PAGE_PATH, base_path + DOCUMENT_PATH, config={"app_name": "Strongroom"}
    )
    app.register_blueprint(page)
    return api


def _serve_document(app: Flask, api: Api, base_path: str) -> None:
    def document() -> Response:
        return jsonify(api.spec.to_dict())

    app.add_url_rule(base_path + DOCUMENT_PATH, "openapi_document", document)


def _schema_name(schema: Any) -> str:
    kind: Any = resolve_schema_cls(schema)
    return str(kind.__name__).removesuffix("Schema")
