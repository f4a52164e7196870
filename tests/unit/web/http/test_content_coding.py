"""Which operations may declare that they are compressed, and which of their responses are."""

import gzip
from collections.abc import Iterator
from typing import Any

import flask
import pytest
from marshmallow import Schema, fields

from strongroom.plugin_api.rendering import ANY_SITE, PageCompression
from strongroom.plugin_api.schemas import collection_schema
from strongroom.plugin_api.web import Access
from strongroom.web.http.content_coding import note_page
from strongroom.web.http.dispatch.application import Application
from strongroom.web.http.response import Response
from strongroom.web.http.routing import Blueprint

TEXT = '{"a":"' + "x" * 2000 + '"}'


class PlainSchema(Schema):
    name = fields.String()
    has_password = fields.Boolean(data_key="hasPassword")
    key_id = fields.String(data_key="keyId")
    codes = fields.Integer()


class KeySchema(Schema):
    secret = fields.String(data_key="accessKey")


class DeepSchema(Schema):
    names = fields.List(fields.List(fields.Nested(KeySchema)))


class RecursiveSchema(Schema):
    # PLW0108: the class is not defined yet.
    children = fields.List(fields.Nested(lambda: RecursiveSchema()))  # noqa: PLW0108
    download_url = fields.Url(data_key="downloadUrl")


class RevisionSchema(Schema):
    revision = fields.Integer()


class WriteOnlySchema(Schema):
    name = fields.String()
    password = fields.String(load_only=True)


FAULTS: list[tuple[str, str, type[Schema] | None, str]] = [
    ("GET", "/a", collection_schema(KeySchema), "'accessKey' may be a secret"),
    ("GET", "/a", DeepSchema, "'accessKey' may be a secret"),
    ("GET", "/a", RecursiveSchema, "'downloadUrl' may be a secret"),
    ("GET", "/a/<secret>/b", PlainSchema, "'secret' may be a secret"),
    ("GET", "/a/<access_token>", PlainSchema, "'access_token' may be a secret"),
    ("GET", "/a", RevisionSchema, "has an entity tag"),
    ("GET", "/a", None, "only a GET with a schema"),
    ("POST", "/a", PlainSchema, "only a GET with a schema"),
]


def test_an_operation_whose_response_may_have_a_secret_cannot_declare_it() -> None:
    for method, path, returns, fault in FAULTS:
        operation = Blueprint("views").operation
        declare = operation(method, path, access=Access.PUBLIC, returns=returns, compress=True)
        with pytest.raises(ValueError, match=fault) as refused:
            declare(lambda: None)
        assert str(refused.value).startswith(f"{method} {path}: ")
    for harmless in (collection_schema(PlainSchema), WriteOnlySchema):
        Blueprint("views").operation("GET", "/a", access=Access.PUBLIC, returns=harmless, compress=True)


def pieces() -> Iterator[bytes]:
    yield TEXT.encode()


JSON = {"Content-Type": "application/json"}
RESULTS: dict[str, tuple[Any, bool]] = {
    "a value": ({"name": "x" * 2000}, True),
    "a complete response": (Response(TEXT.encode(), headers=JSON), True),
    "a small one": (Response(b"{}", headers=JSON), False),
    "a streamed one": (Response(pieces(), headers=JSON), False),
    "another type": (Response(TEXT.encode(), headers={"Content-Type": "text/event-stream"}), False),
    "another status": (Response(TEXT.encode(), 206, JSON), False),
    "an entity tag": (Response(TEXT.encode(), headers={**JSON, "ETag": '"1"'}), False),
    "a coding of its own": (Response(TEXT.encode(), headers={**JSON, "Content-Encoding": "br"}), False),
    "a response of Flask": (flask.Response(TEXT, mimetype="application/json"), False),
}


def mark(response: flask.Response) -> flask.Response:
    """A hook that reads the length, and appends a blank to what is complete."""
    response.headers["X-Length"] = str(response.content_length)
    if response.is_sequence:
        response.set_data(response.get_data() + b" ")
    return response


def test_complete_json_is_compressed_after_hooks_have_changed_it() -> None:
    for name, (result, is_coded) in RESULTS.items():
        blueprint = Blueprint("views")
        declare = blueprint.operation(
            "GET", "/view", access=Access.PUBLIC, returns=PlainSchema, compress=True
        )
        declare(lambda result=result: result)
        blueprint.after_request(mark)
        app = Application("test")
        blueprint.register(app)
        answer = app.test_client().get("/view", headers={"Accept-Encoding": "gzip"})
        assert (answer.headers.get("Content-Encoding") == "gzip") == is_coded, name
        data = gzip.decompress(answer.data) if is_coded else answer.data
        assert data.endswith(b"}" if name == "a streamed one" else b" "), name
        if is_coded:
            assert int(answer.headers["X-Length"]) > 2000 > int(answer.headers["Content-Length"]), name


PAGE = "<p>" + "x" * 2000
HTML = {"Content-Type": "text/html; charset=utf-8"}
PAGES: dict[str, tuple[flask.Response, bool]] = {
    "a page": (flask.Response(PAGE), True),
    "one of the server's own class": (Response(PAGE.encode(), headers=HTML), True),
    "a small one": (flask.Response("<p>"), False),
    "another status": (flask.Response(PAGE, status=400), False),
    "another type": (flask.Response(PAGE, mimetype="text/plain"), False),
    "an entity tag": (flask.Response(PAGE, headers={"ETag": '"1"'}), False),
    "a coding of its own": (flask.Response(PAGE, headers={"Content-Encoding": "br"}), False),
    "a part": (flask.Response(PAGE, headers={"Content-Range": "bytes 0-1/2"}), False),
    "a streamed one": (flask.Response(iter([PAGE])), False),
}
BROWSER = {"Accept-Encoding": "gzip"}


def answer_with(
    response: flask.Response, *noted: PageCompression, site: str = "none", method: str = "GET"
) -> Any:
    """Return the answer of an application whose view renders pages, which may be coded or not."""
    app = Application("test")

    @app.get("/page")
    def show() -> flask.Response:
        for compress in noted:
            note_page(flask.request.environ, compress)
        return response

    app.after_request(mark)
    return app.test_client().open("/page", method=method, headers={**BROWSER, "Sec-Fetch-Site": site})


@pytest.mark.parametrize("name", PAGES)
def test_a_complete_page_is_compressed_after_hooks_have_changed_it(name: str) -> None:
    response, is_coded = PAGES[name]
    answer = answer_with(response, True)
    assert (answer.headers.get("Content-Encoding") == "gzip") == is_coded
    data = gzip.decompress(answer.data) if is_coded else answer.data
    assert data.startswith(b"<p>")
    if is_coded:
        assert data == PAGE.encode() + b" "
        assert answer.headers["Content-Length"] == str(len(answer.data))


def test_a_request_with_a_page_that_may_not_be_coded_is_not_coded() -> None:
    for noted in ((), (False,), (True, False), (False, True)):
        assert "Content-Encoding" not in answer_with(flask.Response(PAGE), *noted).headers
    assert answer_with(flask.Response(PAGE), True, True).headers["Content-Encoding"] == "gzip"


def test_the_strictest_page_of_a_request_decides_which_sites_may_lead_to_it() -> None:
    for noted in ((ANY_SITE, True), (True, ANY_SITE), (ANY_SITE, False)):
        answer = answer_with(flask.Response(PAGE), *noted, site="cross-site")
        assert "Content-Encoding" not in answer.headers
    answer = answer_with(flask.Response(PAGE), ANY_SITE, ANY_SITE, site="cross-site")
    assert answer.headers["Content-Encoding"] == "gzip"


def test_head_of_a_page_has_its_coding_and_no_length() -> None:
    answer = answer_with(
        Response(iter(()), headers={**HTML, "Content-Length": "2003"}), True, method="HEAD"
    )
    assert answer.headers["Content-Encoding"] == "gzip"
    assert "Content-Length" not in answer.headers
