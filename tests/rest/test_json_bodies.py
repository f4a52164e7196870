"""JSON bodies: their charset, their coding, byte order marks and repeated members."""

import gzip

import pytest
from tests.support.api import PASSWORD, Api, error_code
from tests.support.databases import on_sqlite

pytestmark = on_sqlite

LOGIN = f'{{"username": "nobody@example.com", "password": "{PASSWORD}"}}'


@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", "us-ascii", '"utf-8"'])
def test_a_body_is_utf_8(api: Api, charset: str) -> None:
    headers = {"Content-Type": f"application/json;charset={charset}"}
    answer = api.request("POST", "/authorizations", data=LOGIN.encode(), headers=headers)
    assert error_code(answer) == "error.invalid-credentials"


@pytest.mark.parametrize("charset", ["utf-16", "gb18030", "iso-8859-1", "latin1", "none"])
def test_a_body_in_another_charset_is_refused(api: Api, charset: str) -> None:
    headers = {"Content-Type": f"application/json; charset={charset}"}
    answer = api.request("POST", "/authorizations", data=LOGIN.encode(), headers=headers)
    assert (answer.status_code, error_code(answer)) == (415, "error.unsupported-media-type")


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "GZIP", "identity, gzip"])
def test_a_coded_body_is_refused_with_the_accepted_codings(api: Api, coding: str) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": coding}
    content = gzip.compress(LOGIN.encode())
    answer = api.request("POST", "/authorizations", data=content, headers=headers)
    assert (answer.status_code, answer.headers.get("Accept-Encoding")) == (415, "identity")


def test_a_byte_order_mark_is_ignored(api: Api) -> None:
    headers = {"Content-Type": "application/json"}
    answer = api.request("POST", "/authorizations", data=LOGIN.encode("utf-8-sig"), headers=headers)
    assert error_code(answer) == "error.invalid-credentials"


@pytest.mark.parametrize(
    "body",
    [
        '{"username": "a@example.com", "username": "b@example.com", "password": "x"}',
        '{"username": "a@example.com", "captcha": {"id": "1", "id": "2", "answer": "3"}}',
    ],
)
def test_repeated_members_are_refused(api: Api, body: str) -> None:
    headers = {"Content-Type": "application/json"}
    answer = api.request("POST", "/authorizations", data=body.encode(), headers=headers)
    (detail,) = answer.json["error"]["details"]
    assert (answer.status_code, detail["code"]) == (400, "duplicate")
