"""The WSGI environ of a request."""

from typing import Any

import pytest

from strongroom.foundation.errors import HeaderFieldsTooLarge, MalformedRequest, UriTooLong
from strongroom.web.gateway.environ import MAX_HEADERS_BYTES, MAX_TARGET_BYTES, build_environ


def scope(*headers: tuple[bytes, bytes], **changes: Any) -> dict[str, Any]:
    return {
        "method": "GET",
        "raw_path": b"/files",
        "query_string": b"",
        "http_version": "1.1",
        "server": ("127.0.0.1", "8000"),
        "client": ("127.0.0.2", "50000"),
        "scheme": "http",
        "headers": list(headers),
        **changes,
    }


HOST = (b"host", b"files.example.com")


@pytest.mark.parametrize(
    "name", [b"x_forwarded_for", b"x_access_token", b"x-forwarded_for", b"content_length"]
)
def test_a_header_name_with_an_underscore_is_dropped(name: bytes) -> None:
    environ = build_environ(scope(HOST, (name, b"198.51.100.7")))
    assert "198.51.100.7" not in environ.values()


def test_a_hyphenated_header_is_not_replaced_by_its_double_with_an_underscore() -> None:
    double, real = (b"x_forwarded_for", b"198.51.100.7"), (b"x-forwarded-for", b"203.0.113.9")
    for headers in ((double, real), (real, double)):
        assert build_environ(scope(HOST, *headers))["HTTP_X_FORWARDED_FOR"] == "203.0.113.9"


@pytest.mark.parametrize(
    "hosts", [(), (HOST, HOST), (HOST, (b"host", b"other.example")), ((b"host", b""),)]
)
def test_http_1_1_needs_one_host(hosts: tuple[tuple[bytes, bytes], ...]) -> None:
    with pytest.raises(MalformedRequest):
        build_environ(scope(*hosts))


def test_path_and_query_have_a_size_together() -> None:
    path = b"/" + b"a" * 99
    query = b"b" * (MAX_TARGET_BYTES - len(path))
    assert build_environ(scope(HOST, raw_path=path, query_string=query))["QUERY_STRING"]
    with pytest.raises(UriTooLong):
        build_environ(scope(HOST, raw_path=path, query_string=query + b"b"))


def test_headers_have_a_size_together() -> None:
    # Dropped headers count, too.
    headers = [HOST, (b"x_dropped", b"1" * 1000)]
    used = sum(len(name) + len(value) for name, value in headers) + len(b"x-large")
    large = b"2" * (MAX_HEADERS_BYTES - used)
    assert build_environ(scope(*headers, (b"x-large", large)))["HTTP_X_LARGE"]
    with pytest.raises(HeaderFieldsTooLarge):
        build_environ(scope(*headers, (b"x-large", large + b"2")))


def test_http_1_0_needs_no_host() -> None:
    assert "HTTP_HOST" not in build_environ(scope((b"host", b""), http_version="1"))


def test_lines_of_one_header_are_joined() -> None:
    lines = [(b"x-forwarded-for", b"203.0.113.9"), (b"x-forwarded-for", b"203.0.113.10")]
    environ = build_environ(scope(HOST, *lines, (b"cookie", b"a=1"), (b"cookie", b"b=2")))
    assert environ["HTTP_X_FORWARDED_FOR"] == "203.0.113.9,203.0.113.10"
    assert environ["HTTP_COOKIE"] == "a=1; b=2"


def test_text_is_in_the_encoding_of_wsgi() -> None:
    name = "é".encode()
    environ = build_environ(
        scope(HOST, (b"x-name", name), raw_path=b"/%C3%A9", query_string=b"q=%C3%A9")
    )
    assert environ["PATH_INFO"] == "/" + name.decode("latin-1")
    assert environ["QUERY_STRING"] == "q=%C3%A9"
    assert environ["HTTP_X_NAME"] == name.decode("latin-1")


def test_the_type_and_the_length_of_the_body_have_no_prefix() -> None:
    environ = build_environ(scope(HOST, (b"content-type", b"text/plain"), (b"content-length", b"7")))
    assert (environ["CONTENT_TYPE"], environ["CONTENT_LENGTH"]) == ("text/plain", "7")
