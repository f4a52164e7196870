"""Downloads of files of each size: ranges, conditions, media types, and bytes that are gone."""

from pathlib import Path

import pytest
from tests.support.api import Api, error_code
from tests.support.files import File, sent_name
from tests.support.stores import stored_files

RANGES: dict[str, tuple[int | None, int | None]] = {
    "bytes=0-0": (0, 0),
    "bytes=0-": (0, None),
    "bytes=-1": (None, 1),
    "bytes=0-65535": (0, 65535),
    "bytes=-65537": (None, 65537),
    "bytes=1-299998": (1, 299_998),
    "bytes=0-999999999": (0, 999_999_999),
    "bytes=999999-": (999_999, None),
    "bytes=-0": (None, 0),
    "bytes= 0-1": (0, 1),
    "BYTES=0-1": (0, 1),
    "bytes=0-1,": (0, 1),
    "bytes=,0-1": (0, 1),
}
NO_RANGES = [
    "bytes=0-1,1-2",
    "bytes=2-1",
    "bytes=a-b",
    "bytes=",
    "bytes",
    "",
    "lines=0-1",
    "bytes=0-1-2",
    "bytes=00000000000000000000-1",
    "bytes=+0-1",
    "bytes=0-\u0661",
]


@pytest.mark.parametrize("size", [0, 1, 64 * 1024, 64 * 1024 + 1, 300_000])
def test_ranges(api: Api, size: int) -> None:
    content = bytes(number % 251 for number in range(size))
    file = File(api, "a.bin", content)
    whole = file.get(file.download)
    assert (whole.status_code, whole.data) == (200, content)
    assert whole.headers["Content-Length"] == str(size)
    for wanted, (first, last) in RANGES.items():
        answer = file.get(file.download, headers={"Range": wanted})
        found = positions(first, last, size)
        if not found:
            assert (answer.status_code, error_code(answer)) == (416, "error.range-not-satisfiable")
            assert answer.headers["Content-Range"] == f"bytes */{size}"
            continue
        assert answer.status_code == 206, wanted
        assert answer.data == content[found.start : found.stop], wanted
        expected = f"bytes {found.start}-{found.stop - 1}/{size}"
        assert answer.headers["Content-Range"] == expected
        assert answer.headers["Content-Length"] == str(len(found))
        assert answer.headers["ETag"] == whole.headers["ETag"]
    for wanted in NO_RANGES:
        if size < 3 and "," in wanted:
            continue
        answer = file.get(file.download, headers={"Range": wanted.encode().decode("latin1")})
        assert (answer.status_code, answer.data) == (200, content), wanted
        assert "Content-Range" not in answer.headers
    parts = file.get(file.download, headers={"Range": "bytes=0-0,2-2"})
    if size > 2:
        assert parts.status_code == 206
        assert parts.headers["Content-Type"].startswith("multipart/byteranges; boundary=")
        for position in (0, 2):
            part = f"Content-Range: bytes {position}-{position}/{size}\r\n\r\n".encode()
            assert part + content[position : position + 1] + b"\r\n--" in parts.data
    else:
        assert parts.status_code == (206 if size else 416)


def positions(first: int | None, last: int | None, size: int) -> range:
    """Return the positions of a range (RFC 9110, section 14.1.2); without ``first``, the last bytes."""
    if first is None:
        return range(size)[-last:] if last else range(0)
    return range(size)[first : None if last is None else last + 1]


def test_conditions_of_downloads(api: Api) -> None:
    file = File(api)
    tag = file.get(file.download).headers["ETag"]
    for headers, status in (
        ({"If-None-Match": tag}, 304),
        ({"If-None-Match": '"other"'}, 200),
        ({"If-Match": tag}, 200),
        ({"If-Match": '"other"'}, 412),
        ({"Range": "bytes=0-1", "If-Range": tag}, 206),
        ({"Range": "bytes=0-1", "If-Range": '"other"'}, 200),
        ({"If-Modified-Since": "Fri, 31 Dec 9999 00:00:00 GMT"}, 304),
        ({"If-Unmodified-Since": "Sat, 01 Jan 2000 00:00:00 GMT"}, 412),
    ):
        answer = file.get(file.download, headers=headers)
        assert answer.status_code == status, headers
        if status in (200, 206, 304):
            assert answer.headers["ETag"] == tag
            assert answer.headers["Cache-Control"] == "private, no-cache"
        body = {200: b"content", 206: b"co", 304: b""}.get(status, answer.data)
        assert answer.data == body, headers
    digest = file.get(file.download, headers={"Want-Content-Digest": "sha-256=1"})
    assert digest.headers["Content-Digest"] == digest.headers["Repr-Digest"]
    assert "Content-Digest" not in file.get(file.download).headers
    assert file.get(f"{file.download}?a=b").status_code == 400


@pytest.mark.parametrize(
    ("name", "content", "content_type", "kind"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(100), "image/png", "inline"),
        ("a.png", b"<svg/>", None, None),
        ("a.html", b"<html><script>alert(1)</script>", None, None),
        ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", None, None),
        ("a.txt", b"text", "text/plain; charset=utf-8", "inline"),
        ("a.bin", b"\x00\x01", "application/octet-stream", "attachment"),
    ],
)
def test_media_types(
    api: Api, name: str, content: bytes, content_type: str | None, kind: str | None
) -> None:
    file = File(api, name, content)
    answer = file.get(file.download)
    assert answer.data == content
    assert answer.headers["Content-Type"] == file.node["contentType"]
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    disposition = answer.headers["Content-Disposition"]
    if content_type is not None:
        assert answer.headers["Content-Type"] == content_type
        assert disposition == f'{kind}; filename="{name}"'
    # Browsers run scripts in these types.
    active = ("text/html", "image/svg+xml", "application/xhtml+xml", "text/xml", "application/xml")
    assert not disposition.startswith("inline") or not answer.headers["Content-Type"].startswith(active)


def test_stored_bytes_that_are_cut_or_gone(api: Api, tmp_path: Path) -> None:
    file = File(api)
    (stored,) = stored_files(tmp_path / "files")
    stored.write_bytes(b"cut")
    cut = file.get(file.download)
    assert (cut.status_code, error_code(cut)) == (503, "error.unavailable")
    assert cut.headers["Retry-After"]
    stored.unlink()
    gone = file.get(file.download)
    assert (gone.status_code, error_code(gone)) == (500, "error.internal")
    assert file.get().status_code == 200


@pytest.mark.config({"storages": {"main": {"downloads": "x_accel"}}})
class TestAccelerated:
    """Downloads that nginx sends."""

    @pytest.mark.parametrize("name", ["a.bin", "é 100%.txt"])
    def test_nginx_gets_the_path_of_the_file(self, api: Api, name: str) -> None:
        file = File(api, name)
        for headers in ({}, {"Range": "bytes=1-2"}):
            answer = file.get(file.download, headers=headers)
            # nginx applies the range itself.
            assert (answer.status_code, answer.data) == (200, b"")
            assert answer.headers["X-Accel-Redirect"].startswith("/_strongroom/")
            assert sent_name(answer.headers["Content-Disposition"]) == name
            assert "Content-Range" not in answer.headers
        assert file.get(file.download, headers={"Range": "bytes=9-"}).status_code == 416
        tag = answer.headers["ETag"]
        unchanged = file.get(file.download, headers={"If-None-Match": tag})
        assert unchanged.status_code == 304
        assert "X-Accel-Redirect" not in unchanged.headers
