"""Responses are sent as Flask sends its own, also after request hooks have changed them."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import flask
import pytest
from werkzeug.datastructures import Headers
from werkzeug.test import EnvironBuilder

from strongroom.web.http.response import Response, json_response, no_content, not_modified

METHODS = ["GET", "HEAD", "POST"]
STATUSES = [200, 201, 204, 206, 304, 307, 404, 418, 460, 500]
HEADERS = [("Content-Type", "text/plain"), ("Set-Cookie", "a=b"), ("Set-Cookie", "c=d"), ("ETag", '"é"')]

Sent = tuple[str, list[tuple[str, str]], bytes]
Change = Callable[[flask.Response], object]


class Stream:
    """A body that counts how often it is closed."""

    def __init__(self, *chunks: bytes | Exception) -> None:
        self._chunks = chunks
        self.closed = 0

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk

    def close(self) -> None:
        self.closed += 1


def served(response: flask.Response, method: str = "GET", *changes: Change) -> Sent:
    """Send a response from a view, after hooks have changed it."""
    app = flask.Flask("test")
    app.add_url_rule("/", view_func=lambda: response, endpoint="view", methods=["GET", "POST"])

    @app.after_request
    def change(response: flask.Response) -> flask.Response:
        for one in changes:
            one(response)
        return response

    return sent_by(app, method)


def sent_by(app: flask.Flask, method: str = "GET") -> Sent:
    """Return the status, the headers in order and the content."""
    sent: list[Any] = []
    environ = EnvironBuilder("/", method=method).get_environ()

    def start(status: str, headers: list[tuple[str, str]], *_: Any) -> Callable[[bytes], object]:
        sent.append((status, headers))
        return sent.append

    chunks = app.wsgi_app(environ, start)
    try:
        content = b"".join(chunks)
    finally:
        if callable(close := getattr(chunks, "close", None)):
            close()
    ((status, headers),) = sent
    return status, sorted(headers), content


def flasks_own(body: Any, status: int, headers: list[tuple[str, str]]) -> flask.Response:
    """Return the response of Flask, which has no default Content-Type."""
    response = flask.Response(body, status)
    del response.headers["Content-Type"]
    response.headers.extend(headers)
    return response


def difference(actual: Sent, expected: Sent) -> tuple[Sent, Sent] | None:
    """Return both responses if they differ."""
    return None if actual == expected else (actual, expected)


def test_complete_content_is_sent_as_by_flask() -> None:
    differences = {}
    for method, status, body in product(METHODS, STATUSES, (b"", b"content")):
        if status in (204, 304) and body:
            continue
        expected = served(flasks_own(body, status, HEADERS), method)
        actual = served(Response(body, status, HEADERS), method)
        differences[method, status, body] = difference(actual, expected)
        assert expected[2] == (b"" if method == "HEAD" else body)
    assert {case: both for case, both in differences.items() if both} == {}


def remove_content(response: flask.Response) -> None:
    response.status_code = 204
    response.set_data(b"")


CHANGES: dict[str, Change] = {
    "data": lambda response: setattr(response, "data", b"other content"),
    "text": lambda response: response.set_data("Grüße"),
    "pieces": lambda response: setattr(response, "response", [b"other", b" ", b"content"]),
    "text in pieces": lambda response: setattr(response, "response", ["Grüße"]),
    "status code": lambda response: setattr(response, "status_code", 404),
    "status": lambda response: setattr(response, "status", "299 Odd"),
    "to no content": remove_content,
    "to not modified": lambda response: setattr(response, "status_code", 304),
    "header": lambda response: response.headers.add("X-Added", "1"),
    "removed header": lambda response: response.headers.remove("Content-Type"),
    "replaced headers": lambda response: setattr(response, "headers", Headers({"X-Only": "1"})),
    "extended headers": lambda response: response.headers.extend({"Set-Cookie": ["e=f", "g=h"]}),
    "default header": lambda response: response.headers.setdefault("content-type", "text/html"),
    "cookie": lambda response: response.set_cookie("name", "value"),
    "location": lambda response: setattr(response, "location", "/elsewhere"),
    "etag": lambda response: response.add_etag(overwrite=True),
    "read": lambda response: response.get_data(),
    "read as text": lambda response: response.get_data(as_text=True),
    "frozen": lambda response: response.freeze(),
}


def test_changes_of_a_hook_are_sent() -> None:
    differences = {}
    for method, (name, change) in product(METHODS, CHANGES.items()):
        expected = served(flasks_own(b"content", 200, HEADERS), method, change)
        actual = served(Response(b"content", 200, HEADERS), method, change)
        differences[method, name] = difference(actual, expected)
    assert {case: both for case, both in differences.items() if both} == {}


def test_a_stream_is_sent_and_closed_once() -> None:
    headers = [("Content-Type", "text/plain"), ("Content-Length", "6")]
    differences, closed = {}, {}
    for method, name in product(METHODS, ("", "header", "status code", "data", "read", "frozen")):
        changes = [CHANGES[name]] if name else []
        ours, theirs = Stream(b"one", b"two"), Stream(b"one", b"two")
        expected = served(flasks_own(theirs, 200, headers), method, *changes)
        actual = served(Response(ours, 200, headers), method, *changes)
        differences[method, name] = difference(actual, expected)
        closed[method, name] = (ours.closed, theirs.closed)
    assert {case: both for case, both in differences.items() if both} == {}
    # Flask itself forgets a stream that a hook has replaced.
    assert closed == {case: (0, 0) if case[1] in ("data", "frozen") else (1, 1) for case in closed}


def test_a_stream_that_fails_is_closed_once() -> None:
    stream = Stream(b"one", OSError("away"))
    with pytest.raises(OSError, match="away"):
        served(Response(stream))
    assert stream.closed == 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("body", [b"content", None])
def test_close_callbacks_are_called_once_after_the_content(method: str, body: bytes | None) -> None:
    called: list[str] = []
    stream = Stream(b"content")
    response = Response(stream if body is None else body)
    sent = served(
        response, method, lambda answered: answered.call_on_close(lambda: called.append("end"))
    )
    assert sent[2] == (b"" if method == "HEAD" else b"content")
    assert called == ["end"]
    assert stream.closed == (body is None)


def test_each_kind_of_response() -> None:
    assert served(json_response('{"a":"é"}', 201, {"Location": "/a"})) == (
        "201 CREATED",
        [("Content-Length", "11"), ("Content-Type", "application/json"), ("Location", "/a")],
        '{"a":"é"}\n'.encode(),
    )
    assert served(no_content({"ETag": '"1"'})) == ("204 NO CONTENT", [("ETag", '"1"')], b"")
    assert served(not_modified({"ETag": '"1"'})) == ("304 NOT MODIFIED", [("ETag", '"1"')], b"")


def test_a_hook_may_return_another_response() -> None:
    app = flask.Flask("test")
    app.add_url_rule("/", view_func=lambda: Response(b"content"), endpoint="view")
    app.after_request(lambda _: flask.Response("other", 202))
    assert sent_by(app)[::2] == ("202 ACCEPTED", b"other")
