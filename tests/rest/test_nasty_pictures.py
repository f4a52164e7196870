"""Sixty files that mean harm, to every endpoint: refused or made harmless, and never run."""

import gzip
import io
import struct
import zlib
from collections.abc import Iterator
from functools import cache

import pytest
from PIL import Image, PngImagePlugin
from tests.support.api import Answer, Api, Person
from tests.support.images import picture, png_chunk

SCRIPT = b"<script>alert('planted')</script>"
MARK = b"planted"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload=\"alert('planted')\"/>"
SHOWN = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "text/plain")
REFUSED = (400, 413, 415)
PROFILES = ("photos", "figures", "covers", "avatars")


def png(*chunks: bytes) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def header(width: int, height: int, depth: int = 8, colour: int = 2) -> bytes:
    return png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))


def documents() -> Iterator[tuple[str, bytes]]:
    """Yield files that a browser might execute if it guessed their type."""
    yield "page.html", b"<!DOCTYPE html><html>" + SCRIPT
    yield "upper.HTML", b"<HTML>" + SCRIPT
    yield "spaces.html", b" \r\n\t " + SCRIPT
    yield "bom.html", b"\xef\xbb\xbf<html>" + SCRIPT
    yield "utf16.html", ("\ufeff<html>" + SCRIPT.decode()).encode("utf-16-le")
    yield "utf7.html", b"+ADw-script+AD4-alert('planted')+ADw-/script+AD4-"
    yield "comment.html", b"<!-- --><body onload=alert('planted')>"
    yield "iframe.html", b'<iframe srcdoc="' + SCRIPT + b'">'
    yield "meta.html", b"<meta http-equiv=refresh content='0;url=javascript:alert(`planted`)'>"
    yield "page.xhtml", b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>" + SCRIPT
    yield "image.svg", SVG
    yield "script.svg", b"<?xml version='1.0'?>" + SVG.replace(b"/>", b">") + SCRIPT + b"</svg>"
    yield "entity.svg", b"<!DOCTYPE svg [<!ENTITY planted SYSTEM 'file:///etc/passwd'>]>" + SVG
    yield "image.svgz", gzip.compress(SVG)
    yield "sheet.xml", b"<?xml version='1.0'?><?xml-stylesheet href='planted.xsl'?><a/>"
    yield "sheet.xsl", b"<xsl:stylesheet xmlns:xsl='http://www.w3.org/1999/XSL/Transform'/>"
    yield "feed.rss", b"<rss><channel><title>" + SCRIPT + b"</title></channel></rss>"
    yield "code.js", b"alert('planted')"
    yield "module.mjs", b"export default alert('planted')"
    yield "code.wasm", b"\0asm\1\0\0\0planted"
    yield "style.css", b"body{background:url(javascript:alert('planted'))}"
    yield "data.json", b'{"html": "<script>planted</script>"}'
    yield "page.mht", b"MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n" + SCRIPT
    yield "page.hta", b"<hta:application>" + SCRIPT
    yield "flash.swf", b"CWS\x0b" + b"planted" * 4
    yield "flash.uncompressed.swf", b"FWS\x0b" + b"planted" * 4
    yield "form.pdf", b"%PDF-1.7\n1 0 obj<</OpenAction<</S/JavaScript/JS(app.alert('planted'))>>>>"
    yield "late.pdf", b"\n" * 100 + b"%PDF-1.7 planted"
    yield "post.ps", b"%!PS\n(planted) print (%pipe%id) (r) file"
    yield "post.eps", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(planted)"
    yield "job.xps", b"PK\x03\x04planted"
    yield "applet.jar", b"PK\x03\x04\x14\0\x08\0META-INF/planted"
    yield "run.exe", b"MZ\x90\0planted"
    yield "run.sh", b"#!/bin/sh\necho planted"
    yield "page.php", b"<?php system('planted') ?>"
    yield "link.url", b"[InternetShortcut]\r\nURL=javascript:alert('planted')"
    yield "link.desktop", b"[Desktop Entry]\nExec=planted"
    yield "manifest.appcache", b"CACHE MANIFEST\nplanted"


def polyglots() -> Iterator[tuple[str, bytes]]:
    """Yield pictures that are something else as well."""
    yield "gif.js", b"GIF89a=1;alert('planted');//" + b"\0" * 20
    yield "gif.comment", picture((64, 48), "GIF", comment=b"*/=1;alert('planted')//")
    yield "gif.html", picture((64, 48), "GIF") + SCRIPT
    yield "jpeg.html", picture((64, 48), "JPEG", comment=SCRIPT)
    yield "jpeg.tail", picture((64, 48), "JPEG") + b"<?php planted ?>"
    yield "jpeg.zip", picture((64, 48), "JPEG") + b"PK\x03\x04planted"
    yield "jpeg.app", picture((64, 48), "JPEG", extra=b"\xff\xe9\x00\x09planted")
    yield "jpeg.xmp", picture((64, 48), "JPEG", xmp=b"<x:xmpmeta>planted</x:xmpmeta>")
    info = PngImagePlugin.PngInfo()
    info.add_text("html", SCRIPT.decode())
    yield "png.text", picture((64, 48), "PNG", pnginfo=info)
    yield "png.tail", picture((64, 48), "PNG") + b"%PDF-1.7 planted"
    yield "png.phar", picture((64, 48), "PNG") + b"<?php __HALT_COMPILER(); ?>planted"
    yield "webp.tail", picture((64, 48), "WEBP") + SCRIPT
    yield "webp.xmp", picture((64, 48), "WEBP", xmp=b"planted")
    yield "avif.exif", picture((64, 48), "AVIF", exif=b"Exif\0\0MM\0*\0\0\0\x08\0\0planted")


def bombs() -> Iterator[tuple[str, bytes]]:
    """Yield pictures that take more than they look like."""
    yield "wide.png", png(header(2**31 - 1, 1), png_chunk(b"IDAT", zlib.compress(b"\0" * 99)))
    yield "square.png", png(header(60_000, 60_000), png_chunk(b"IDAT", zlib.compress(b"\0" * 99)))
    yield "nothing.png", png(header(0, 0), png_chunk(b"IDAT", b""), png_chunk(b"IEND", b""))
    yield "noend.png", png(header(9, 9))
    text = zlib.compress(b"planted" * 10_000_000)
    yield "text.png", png(header(9, 9), png_chunk(b"zTXt", b"a\0\0" + text), png_chunk(b"IEND", b""))
    yield "icc.png", png(header(9, 9), png_chunk(b"iCCP", b"a\0\0" + text), png_chunk(b"IEND", b""))
    frames = png_chunk(b"acTL", struct.pack(">II", 2**31 - 1, 0))
    yield "frames.png", png(header(9, 9), frames, png_chunk(b"IDAT", b"x"), png_chunk(b"IEND", b""))
    yield "canvas.gif", b"GIF89a\xff\xff\xff\xff\x00\x00\x00,\0\0\0\0\xff\xff\xff\xff\0\x08\x00;"
    yield "huge.webp", b"RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\x10\0\0\0\xfe\x3f\0\xfe\x3f\0" + b"\0" * 20
    yield "empty.jpg", b"\xff\xd8\xff\xd9"


@cache  # not when the module is imported, because each process that collects tests imports it
def nasty_files() -> list[tuple[str, bytes]]:
    return [*documents(), *polyglots(), *bombs()]


def send(api: Api, path: str, name: str, content: bytes, by: Person) -> Answer:
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Type": "text/html" if name.endswith("html") else "image/png",
    }
    return api.request("POST", f"/api/v1/files{path}", by=by, headers=headers, data=content)


def test_there_are_sixty() -> None:
    assert len({name for name, _ in nasty_files()}) == len(nasty_files()) >= 60


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_profiles_of_pictures_refuse_them_or_keep_only_the_image(api: Api) -> None:
    person = api.person()
    pictures = {name for name, _ in polyglots()} - {"gif.js"}
    for name, content in nasty_files():
        profile = PROFILES[len(name) % len(PROFILES)]
        response = send(api, f"/{profile}", name, content, person)
        if response.status_code == 201:
            assert name in pictures, name
            served = api.get(f"/api/v1/files/{response.json['fileName']}")
            assert MARK not in served.data, name
            assert served.headers["Content-Type"] in SHOWN, name
            with Image.open(io.BytesIO(served.data)) as image:
                assert image.size == (64, 48), name
        else:
            assert response.status_code in REFUSED, (name, response.text)
            assert response.json["error"]["details"][0]["field"] == "file", (name, response.text)
            assert name not in pictures, (name, response.text)


def test_as_files_of_any_kind_they_are_kept_and_never_run_in_our_origin(api: Api) -> None:
    person = api.person()
    for name, content in nasty_files():
        response = send(api, "", name, content, person)
        assert response.status_code == 201, (name, response.text)
        served = api.get(f"/api/v1/files/{response.json['fileName']}", by=person)
        assert served.data == content, name
        media_type, disposition = served.headers["Content-Type"], served.headers["Content-Disposition"]
        assert media_type.partition(";")[0] in SHOWN or disposition.startswith("attachment"), name
        assert not media_type.startswith(("text/html", "image/svg", "text/xml")), name
        assert served.headers["X-Content-Type-Options"] == "nosniff", name
        assert served.headers["Content-Security-Policy"] == "default-src 'none'; sandbox", name
        assert not response.json["fileName"].endswith((".html", ".svg", ".js", ".xml", ".php")), name


def test_the_names_that_clients_give_are_in_no_answer(api: Api) -> None:
    person = api.person()
    body = send(api, "", "planted.html", b"x", person)
    served = api.get(f"/api/v1/files/{body.json['fileName']}", by=person)
    assert "planted" not in body.text
    assert "planted" not in str(served.headers)
