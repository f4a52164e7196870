"""The route of the OpenAPI document, and documentation to try it out.

The pages load nothing from other origins.
"""

from functools import cache
from pathlib import Path
from typing import Final

import flask
import flask_swagger_ui
from flask import Flask, Response, request
from werkzeug.wrappers import Response as WerkzeugResponse

from strongroom.web.http.openapi import Description
from strongroom.web.http.parsing import refuse_query
from strongroom.web.pages.html import Pages
from strongroom.web.pages.static_files import TYPES, StaticContent, StaticFolder

DOCUMENT_PATH: Final = "/openapi.json"
PAGE_PATH: Final = "/docs"

_DOCUMENT: Final = DOCUMENT_PATH.removeprefix("/")
_ASSETS: Final = Path(flask_swagger_ui.__file__).with_name("dist")
_PAGES: Final = Pages("strongroom.extensions.api_docs")
_PAGE_POLICY: Final = {
    # Swagger UI creates style elements, and its icons are data URLs.
    "script-src": "'self' 'nonce-{nonce}'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
}


def serve_description(app: Flask, description: Description, base_path: str, *, with_page: bool) -> None:
    """Add the routes of the OpenAPI document and, optionally, of the interactive documentation."""

    @cache
    def folder() -> StaticFolder:
        content = app.json.dumps(description.document).encode()
        return StaticFolder({_DOCUMENT: StaticContent(content)})

    def document() -> WerkzeugResponse:
        refuse_query()
        return folder().conditional_response(_DOCUMENT, request.environ)

    app.add_url_rule(base_path + DOCUMENT_PATH, "openapi_document", document)
    if with_page:
        app.register_blueprint(_page(base_path))


def _page(base_path: str) -> flask.Blueprint:
    page_path = base_path + PAGE_PATH
    blueprint = flask.Blueprint("api_docs", __name__, url_prefix=page_path)

    @blueprint.get("", strict_slashes=False)
    def show() -> Response:
        return _PAGES.render(
            "api_docs.html",
            policy=_PAGE_POLICY,
            page_path=page_path,
            document_path=base_path + DOCUMENT_PATH,
        )

    @cache
    def folder() -> StaticFolder:
        files = (file for file in _ASSETS.iterdir() if file.suffix in TYPES)
        return StaticFolder({file.name: file for file in files})

    @blueprint.get("/<path:name>")
    def asset(name: str) -> WerkzeugResponse:
        return folder().conditional_response(name, request.environ)

    return blueprint
