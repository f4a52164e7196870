"""The names of uploaded files, as clients send them in headers and in forms."""

import pytest
from tests.support.api import Answer, Api
from tests.support.databases import on_sqlite

pytestmark = on_sqlite

RAW = [
    ("attachment; filename*=UTF-8''r%C3%A9sum%C3%A9.txt", "résumé.txt"),
    ('attachment; filename="plain name.txt"', "plain name.txt"),
    ('attachment; filename="a\\"b.txt"', 'a"b.txt'),
    ('attachment; filename="résumé.txt"', "résumé.txt"),
    ('attachment; filename="报告 2026.txt"', "报告 2026.txt"),
    ("attachment; filename=%EF%BF%BD.txt; filename*=UTF-8''%EF%BF%BD.txt", "\ufffd.txt"),
]
UNREADABLE = [
    'attachment; filename="r\xe9sum\xe9.txt"'.encode("latin-1"),
    'attachment; filename="报告.txt"'.encode("gb18030"),
    b"attachment; filename*=UTF-8''%E9.txt",
    b"attachment; filename*=gb18030''%B1%A8.txt",
]
FORM = [
    (b'filename="C:\\docs\\b.txt"', "C:\\docs\\b.txt"),
    (b'filename="a%22b.txt"', 'a"b.txt'),
    (b'filename="100%25.txt"', "100%25.txt"),
    (b'filename="a\\"b.txt"', 'a"b.txt'),
    ('filename="résumé.txt"'.encode(), "résumé.txt"),
    (b"filename=plain.txt", "plain.txt"),
    (b"filename=\"x.txt\"; filename*=UTF-8''%E6%8A%A5.txt", "报.txt"),
]


def outcome(answer: Answer) -> tuple[int, str, str]:
    """Return the status, the error code and the name of the node."""
    body = answer.json
    return answer.status_code, body.get("error", {}).get("code", ""), body.get("name", "")


def send(api: Api, disposition: bytes) -> tuple[int, str, str]:
    """Upload a raw body."""
    by = api.person()
    headers = {"Content-Disposition": disposition.decode("latin-1")}
    path = f"{api.tenant(by)}/files"
    answer = api.request("POST", path, by=by, headers=headers, data=b"content")
    return outcome(answer)


@pytest.mark.parametrize(("disposition", "name"), RAW)
def test_a_header_has_a_name_in_utf_8(api: Api, disposition: str, name: str) -> None:
    assert send(api, disposition.encode()) == (201, "", name)


@pytest.mark.parametrize("disposition", UNREADABLE)
def test_a_header_in_another_encoding_is_refused(api: Api, disposition: bytes) -> None:
    assert send(api, disposition)[:2] == (400, "error.invalid-name")


def send_form(api: Api, parameters: bytes) -> tuple[int, str, str]:
    by = api.person()
    body = (
        b'--b\r\nContent-Disposition: form-data; name="file"; %b\r\n\r\ncontent\r\n--b--\r\n'
        % parameters
    )
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    answer = api.request("POST", f"{api.tenant(by)}/files", by=by, headers=headers, data=body)
    return outcome(answer)


@pytest.mark.parametrize(("parameters", "name"), FORM)
def test_a_form_has_the_name_that_browsers_encode(api: Api, parameters: bytes, name: str) -> None:
    assert send_form(api, parameters) == (201, "", name)


def test_a_form_in_another_encoding_is_refused(api: Api) -> None:
    assert send_form(api, b'filename="r\xe9sum\xe9.txt"')[:2] == (400, "error.invalid-name")


@pytest.mark.parametrize("escape", [b"%0A", b"%0d"])
def test_a_form_cannot_have_a_line_end_in_a_name(api: Api, escape: bytes) -> None:
    assert send_form(api, b'filename="a%bb.txt"' % escape)[0] == 400
