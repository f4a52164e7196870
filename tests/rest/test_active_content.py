"""What could run in a browser, sent up under every disguise: it never runs in our origin."""

import struct
import zlib
from itertools import product

import pytest
from tests.support.api import Api, Person

SCRIPT = b"<script>alert(document.domain)</script>"
GIF = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00"
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4s13s", 13, b"IHDR", b"\0\0\0\1\0\0\0\1\10\2\0\0\0")
COMMENT = struct.pack(">I4s", len(SCRIPT), b"tEXt") + SCRIPT + zlib.crc32(SCRIPT).to_bytes(4, "big")

CONTENTS = {
    "html": b"<!doctype html><html><body>" + SCRIPT,
    "fragment": SCRIPT,
    "event": b'<img src=x onerror="alert(1)">',
    "byte-order mark": b"\xef\xbb\xbf<html>" + SCRIPT,
    "utf-16": "<script>alert(1)</script>".encode("utf-16"),
    "utf-7": b"+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
    "leading blanks": b"\n" * 2000 + SCRIPT,
    "svg": b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    "svg with declaration": b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg">' + SCRIPT,
    "xhtml": b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">' + SCRIPT + b"</html>",
    "xslt": b'<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="#"?><a/>',
    "mathml": b'<math xmlns="http://www.w3.org/1998/Math/MathML" href="javascript:alert(1)"/>',
    "script": b"alert(document.domain)",
    "module": b"export default alert(1)",
    "service worker": b"self.addEventListener('fetch', e => e.respondWith(new Response('x')))",
    "json": b'{"x": "<script>alert(1)</script>"}',
    "manifest": b"CACHE MANIFEST\n/\n",
    "css": b'body{background:url("javascript:alert(1)")}',
    "pdf": b"%PDF-1.7\n1 0 obj<</OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj",
    "pdf after html": SCRIPT + b"\n%PDF-1.7\n",
    "flash": b"FWS\x0a\x00\x00\x00\x00",
    "compressed flash": b"CWS\x0a\x00\x00\x00\x00",
    "mhtml": b"MIME-Version: 1.0\nContent-Type: multipart/related\n\n" + SCRIPT,
    "gif and html": GIF + SCRIPT,
    "gif and script": b"GIF89a/*" + b"\0" * 8 + b"*/=1;alert(1)//",
    "png and html": PNG + COMMENT,
    "jpeg and html": JPEG + SCRIPT,
    "zip and html": b"PK\x03\x04" + b"\0" * 26 + SCRIPT,
    "executable": b"MZ\x90\x00" + b"\0" * 60 + SCRIPT,
    "shell": b"#!/bin/sh\necho",
}
NAMES = ("page.html", "drawing.svg", "page.xhtml", "run.js", "picture.png", "words.txt", "plain")

CASES = [(name, kind) for kind, name in product(CONTENTS, NAMES)]
PICTURES = {"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"}
PLAIN = "text/plain; charset=utf-8"


def assert_harmless(api: Api, person: Person, path: str) -> None:
    """Check every answer that could carry the content."""
    for method, headers, status in (
        ("GET", {}, 200),
        ("HEAD", {}, 200),
        ("GET", {"Range": "bytes=0-1"}, 206),
        ("GET", {"Accept": "text/html"}, 200),
    ):
        response = api.request(method, path, by=person, headers=headers)
        assert response.status_code == status
        answered = response.headers
        assert answered["X-Content-Type-Options"] == "nosniff"
        assert answered["Content-Security-Policy"] == "default-src 'none'; sandbox"
        if not answered["Content-Disposition"].startswith("attachment; "):
            assert answered["Content-Type"] in {*PICTURES, PLAIN}


def test_active_content_is_sent_so_that_it_runs_nowhere(api: Api) -> None:
    assert len(CASES) >= 60
    person = api.person()
    tenant = api.tenant(person)
    for number, (name, kind) in enumerate(CASES):
        folder = api.folder(tenant, person, str(number))["id"]
        node = api.upload(tenant, person, name, CONTENTS[kind], folder)
        assert_harmless(api, person, f"{tenant}/files/{node['id']}/download")


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("page.html", "html", "text/html; charset=utf-8"),
        ("drawing.svg", "svg", "image/svg+xml; charset=utf-8"),
        ("page.xhtml", "xhtml", "application/xhtml+xml; charset=utf-8"),
        ("run.js", "script", "text/javascript; charset=utf-8"),
        ("picture.png", "html", PLAIN),
        ("picture.png", "svg", PLAIN),
        ("plain", "html", PLAIN),
        ("plain", "pdf", "application/pdf"),
        ("words.txt", "utf-16", "application/octet-stream"),
        ("words.txt", "gif and html", "image/gif"),
        ("run.js", "flash", "application/x-shockwave-flash"),
    ],
)
def test_the_type_is_that_of_the_content(api: Api, name: str, kind: str, expected: str) -> None:
    person = api.person()
    node = api.upload(api.tenant(person), person, name, CONTENTS[kind])
    assert node["contentType"] == expected


def test_the_declared_type_is_ignored(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    headers = {"Content-Disposition": 'attachment; filename="a"', "Content-Type": "text/html"}
    sent = api.request("POST", f"{tenant}/files", by=person, headers=headers, data=CONTENTS["html"])
    assert sent.json["contentType"] == PLAIN
