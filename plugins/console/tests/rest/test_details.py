"""The pages of one file or folder: details, previews, versions and activity."""

import io
from importlib import import_module

import pytest
from PIL import Image
from tests.support.api import Json, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.console_space import ConsoleSpace as Space
from tests.support.databases import on_sqlite
from tests.support.documents import pdf

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
HOSTILE = '<img src=x onerror=alert(1)>"\u202e.txt'

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


def picture(kind: str) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (8, 4), "red").save(content, kind)
    return content.getvalue()


class TestDetails:
    def test_the_facts_of_a_file_are_shown(self, space: Space) -> None:
        node = space.upload("note.txt", b"Hello & <b>all</b>")
        text = space.browser.open(space.page(node)).text
        assert "<h1><bdi>note.txt</bdi></h1>" in text
        assert "Hello &amp; &lt;b&gt;all&lt;/b&gt;" in text
        assert node["checksum"].partition(":")[2] in text
        assert "18 bytes" in text
        assert f'href="{space.page(node)}/download"' in text
        assert "<dd>You</dd>" in text

    def test_the_name_of_a_file_is_only_a_text(self, space: Space) -> None:
        node = space.upload(HOSTILE, b"x")
        for tab in ("", "versions", "activity"):
            text = space.browser.open(space.page(node, tab)).text
            assert "<img" not in text
            assert "&lt;img src=x onerror=alert(1)&gt;" in text

    def test_a_member_without_a_name_is_no_former_member(self, space: Space) -> None:
        node = space.upload("note.txt", b"x")
        nameless = space.api.person(name="")
        space.api.join(space.tenant, space.admin, nameless)
        body = {"ownerId": nameless.id, "permission": "write"}
        owners = f"{space.tenant}/files/{node['id']}/owners"
        assert space.api.post(owners, body, by=space.admin).status_code == 201
        headers = {"Content-Disposition": 'attachment; filename="new"'}
        content = f"{space.tenant}/files/{node['id']}/content"
        replaced = space.api.request("PUT", content, by=nameless, headers=headers, data=b"other")
        assert replaced.status_code == 200, replaced.text
        for tab in ("versions", "activity"):
            text = space.browser.open(space.page(node, tab)).text
            assert f"{nameless.email[0]}•••@" in text
            assert nameless.id not in text
            assert nameless.email not in text
            assert "A former member" not in text

    def test_a_folder_leads_to_its_list(self, space: Space) -> None:
        folder = space.api.folder(space.tenant, space.admin, "Drafts")
        text = space.browser.open(space.page(folder)).text
        assert f'href="{space.root}/files/{folder["id"]}/"' in text
        assert "/download" not in text
        assert "tab-versions" not in text

    def test_the_owner_is_named(self, space: Space) -> None:
        node = space.upload("note.txt", b"x")
        space.grant(node, "read")
        space.log_in(space.member)
        text = space.browser.open(space.page(node)).text
        assert "<bdi>Alice</bdi>" in text
        assert "Can view" in text
        assert "/share" not in text

    def test_a_file_is_shown_to_those_alone_who_may_see_it(self, space: Space) -> None:
        node = space.upload("secret.txt", b"the secret")
        space.log_in(space.member)
        for tab in ("", "preview", "versions", "versions/1", "versions/1/download", "activity"):
            answer = space.browser.open(space.page(node, tab))
            assert answer.status_code in (403, 404), tab
            assert "secret" not in answer.text

    def test_an_unknown_file_has_no_page(self, space: Space) -> None:
        for name in ("nothing", "a%3Fb", "..", "%00"):
            assert space.browser.open(f"{space.root}/nodes/{name}").status_code in (403, 404)


class TestPreviews:
    @pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
    def test_a_picture_is_encoded_again(self, space: Space, kind: str) -> None:
        node = space.upload(f"dot.{kind.lower()}", picture(kind) + b"trailer <script>")
        text = space.browser.open(space.page(node)).text
        assert f'<img src="{space.page(node)}/preview" alt="dot.{kind.lower()}">' in text
        answer = space.browser.open(space.page(node, "preview"))
        assert answer.status_code == 200
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert b"<script>" not in answer.data

    def test_the_first_pages_of_a_document_are_a_picture(
        self, space: Space, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # By its name, because the package has the area of the same name.
        previews = import_module("strongroom_console.my_files.previews")
        monkeypatch.setattr(previews, "_PDF_RATES", ("1/minute",))
        node = space.upload("plan.pdf", pdf(pages=2))
        assert f'src="{space.page(node)}/preview"' in space.browser.open(space.page(node)).text
        answer = space.browser.open(space.page(node, "preview"))
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/jpeg")
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert answer.data.startswith(b"\xff\xd8")
        tag = answer.headers["ETag"]
        again = space.browser.open(space.page(node, "preview"), None, **{"If-None-Match": tag})
        assert (again.status_code, again.data) == (304, b"")
        # Only what the browser does not have already is drawn, and counted.
        assert space.browser.open(space.page(node, "preview")).status_code == 429

    def test_a_document_that_cannot_be_read_has_no_picture(self, space: Space) -> None:
        node = space.upload("broken.pdf", b"%PDF-1.7\n<script>alert(1)</script>")
        headers = {"Sec-Fetch-Mode": "no-cors"}
        answer = space.browser.open(space.page(node, "preview"), None, **headers)
        assert answer.status_code == 422
        assert "<script>" not in answer.text

    def test_a_sound_is_played_with_ranges_and_never_run(self, space: Space) -> None:
        node = space.upload("tone.mp3", b"ID3\x03" + bytes(2000))
        assert "<audio controls" in space.browser.open(space.page(node)).text
        answer = space.browser.open(space.page(node, "preview"), Range="bytes=0-2")
        assert (answer.status_code, answer.data) == (206, b"ID3")
        assert answer.headers["Content-Type"] == "audio/mpeg"
        assert answer.headers["Content-Disposition"] == "inline"
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        # A browser replaces the headers of its copy by those of a 304.
        headers = {"If-None-Match": answer.headers["ETag"]}
        answer = space.browser.open(space.page(node, "preview"), None, **headers)
        assert answer.status_code == 304
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("page.html", b"<!doctype html><script>alert(1)</script>"),
            ("page.xhtml", b"<html xmlns='http://www.w3.org/1999/xhtml'/>"),
            ("drawing.svg", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"),
            ("data.xml", b"<?xml version='1.0'?><a/>"),
            ("program.bin", bytes(range(256))),
        ],
    )
    def test_active_and_unknown_formats_have_none(self, space: Space, name: str, content: bytes) -> None:
        node = space.upload(name, content)
        text = space.browser.open(space.page(node)).text
        assert "No preview for this type of file." in text
        assert f'src="{space.page(node)}' not in text
        assert space.browser.open(space.page(node, "preview")).status_code == 404

    def test_a_long_text_is_cut(self, space: Space) -> None:
        node = space.upload("long.txt", "é".encode() * 40_000 + b"the end")
        text = space.browser.open(space.page(node)).text
        assert "Only the beginning is shown." in text
        assert "the end" not in text


class TestVersions:
    @pytest.fixture
    def node(self, space: Space) -> Json:
        node = space.upload("plan.txt", b"first")
        space.replace(node, b"second")
        return node

    def test_a_version_is_downloaded_as_the_file(self, space: Space, node: Json) -> None:
        text = space.browser.open(space.page(node, "versions")).text
        assert "Version 1" in text
        answer = space.browser.open(space.page(node, "versions/1/download"))
        assert (answer.status_code, answer.data) == (200, b"first")
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert space.browser.open(space.page(node, "versions/9/download")).status_code == 404

    def test_a_version_is_restored(self, space: Space, node: Json) -> None:
        space.browser.open(space.page(node, "versions"))
        space.send(space.page(node, "versions/1/restore"))
        assert space.browser.message == "The version is the current content again."
        assert "Version 2" in space.browser.page.text
        content = space.api.get(f"{space.tenant}/files/{node['id']}/download", by=space.admin)
        assert content.data == b"first"

    def test_a_version_is_labelled_and_kept(self, space: Space, node: Json) -> None:
        page = space.page(node, "versions/1")
        space.browser.open(page)
        space.send(page, label="<i>Approved", keep="true")
        assert space.browser.message == "The version was changed."
        assert "<bdi>&lt;i&gt;Approved</bdi>" in space.browser.page.text
        assert "Kept" in space.browser.page.text
        space.browser.open(page)
        space.send(page, label="")
        assert "Approved" not in space.browser.page.text

    def test_a_label_that_is_too_long_stays_in_the_form(self, space: Space, node: Json) -> None:
        page = space.page(node, "versions/1")
        space.browser.open(page)
        answer = space.send(page, label="x" * 256)
        assert answer.status_code == 400
        assert "x" * 256 in answer.text
        assert 'role="alert"' in answer.text

    def test_a_version_is_deleted(self, space: Space, node: Json) -> None:
        page = space.page(node, "versions/1")
        space.browser.open(page)
        space.send(f"{page}/delete")
        assert space.browser.message == "The version was deleted."
        assert "This file has no earlier versions." in space.browser.page.text
        assert space.browser.open(page).status_code == 404

    def test_a_version_is_deleted_only_with_a_fresh_proof(self, space: Space, node: Json) -> None:
        page = space.page(node, "versions/1")
        space.api.clock.advance(3_600_000)
        space.browser.open(page)
        space.send(f"{page}/delete")
        assert space.browser.path != space.page(node, "versions")
        versions = space.api.get(f"{space.tenant}/files/{node['id']}/versions", by=space.admin)
        assert versions.status_code == 401 or versions.json["meta"]["totalCount"] == 1

    def test_readers_change_no_version(self, space: Space, node: Json) -> None:
        space.grant(node, "read")
        space.log_in(space.member)
        text = space.browser.open(space.page(node, "versions")).text
        assert "Version 1" in text
        assert "/restore" not in text
        form = space.browser.open(space.page(node, "versions/1")).text
        assert "versions/1/delete" not in form
        csrf = {"csrf": space.browser.forms["/console/logout"]["csrf"]}
        for action in ("", "/restore", "/delete"):
            space.browser.open(space.page(node, f"versions/1{action}"), csrf)
            assert 'role="alert"' in space.browser.page.text or space.browser.page.status_code == 403
        assert "second" in space.browser.open(space.page(node)).text

    def test_a_form_of_another_site_is_refused(self, space: Space, node: Json) -> None:
        answer = space.browser.request(space.page(node, "versions/1/restore"), {"csrf": "wrong"})
        assert answer.status_code == 400
        assert "Version 2" not in space.browser.open(space.page(node, "versions")).text


class TestActivity:
    def test_administrators_see_what_was_done(self, space: Space) -> None:
        node = space.upload("plan.txt", b"first")
        space.replace(node, b"second")
        text = space.browser.open(space.page(node, "activity")).text
        assert text.index("Content replaced") < text.index("File created")
        assert "<bdi>Alice</bdi>" in text

    def test_others_do_not(self, space: Space) -> None:
        node = space.upload("plan.txt", b"first")
        space.grant(node, "manage")
        space.log_in(space.member)
        assert "/activity" not in space.browser.open(space.page(node)).text
        assert space.browser.open(space.page(node, "activity")).status_code == 403


class TestLocks:
    def test_a_lock_is_shown_and_released_by_those_who_manage_the_file(self, space: Space) -> None:
        folder = space.folder("Case")
        node = space.upload("plan.txt", b"x", folder["id"])
        space.grant(folder, "write")
        path = f"{space.tenant}/files/{folder['id']}/locks"
        taken = space.api.post(path, {"note": "<i>Office"}, by=space.member)
        assert taken.status_code == 201
        assert "Locked</span>" in space.browser.open(f"{space.root}/files/").text
        text = space.browser.open(space.page(node)).text
        assert "Locked by <bdi>&lt;b&gt;Bob</bdi>" in text
        assert "<bdi>&lt;i&gt;Office</bdi>" in text
        refused = space.api.patch(f"{space.tenant}/files/{node['id']}", {"name": "n"}, by=space.admin)
        assert refused.status_code == 423
        space.send(f"{space.page(node)}/unlock", lock=taken.json["id"])
        assert space.browser.message == "It is no longer locked."
        assert "Locked by" not in space.browser.open(space.page(node)).text

    def test_others_cannot_release_it(self, space: Space) -> None:
        node = space.upload("plan.txt", b"x")
        space.grant(node, "write")
        path = f"{space.tenant}/files/{node['id']}/locks"
        taken = space.api.post(path, {}, by=space.admin).json
        assert "Locked by you" in space.browser.open(space.page(node)).text
        space.log_in(space.member)
        text = space.browser.open(space.page(node)).text
        assert "Locked by <bdi>Alice</bdi>" in text
        assert "/unlock" not in text
        # The page has no such form, so another one's proof is sent.
        page = space.page(node, "rename")
        space.browser.open(page)
        form = {**space.browser.forms[page], "lock": taken["id"]}
        space.browser.open(f"{space.page(node)}/unlock", form)
        assert 'role="alert"' in space.browser.page.text


class TestHolds:
    @pytest.fixture
    def keeper(self, space: Space) -> Person:
        """A member with the role ``records``, who can read the files of the member."""
        keeper = space.api.person(name="Kim")
        space.api.join(space.tenant, space.admin, keeper, role="records")
        return keeper

    def test_the_role_records_places_and_releases_a_hold(self, space: Space, keeper: Person) -> None:
        folder = space.folder("Case")
        node = space.upload("plan.txt", b"x", folder["id"])
        share(space, folder, keeper)
        space.log_in(keeper)
        page = space.page(folder, "hold")
        assert "No hold applies here." in space.browser.open(page).text
        space.send(page, reason="<b>Case 7", until="")
        assert space.browser.message == "The hold was placed."
        assert "<bdi>&lt;b&gt;Case 7</bdi>" in space.browser.page.text
        text = space.browser.open(space.page(node, "hold")).text
        assert "On a folder above" in text
        assert "Release the hold" not in text
        assert space.api.delete(f"{space.tenant}/files/{node['id']}", by=space.admin).status_code == 409
        space.browser.open(page)
        space.send(f"{page}/release")
        assert space.browser.message == "The hold was released."
        assert space.api.delete(f"{space.tenant}/files/{node['id']}", by=space.admin).status_code == 200

    def test_administrators_release_it_with_a_reason(self, space: Space, keeper: Person) -> None:
        node = space.upload("plan.txt", b"x")
        path = f"{space.tenant}/files/{node['id']}/hold"
        assert space.api.put(path, {"reason": "Case 7"}, by=keeper).status_code == 200
        page = space.page(node, "hold")
        assert "Place a hold" not in space.browser.open(page).text
        space.send(f"{page}/release")
        assert 'role="alert"' in space.browser.page.text
        space.send(f"{page}/release", overrideReason="By mistake")
        assert space.browser.message == "The hold was released."

    def test_others_neither_see_nor_change_holds(self, space: Space) -> None:
        node = space.upload("plan.txt", b"x")
        space.grant(node, "manage")
        space.log_in(space.member)
        assert "/hold" not in space.browser.open(space.page(node)).text
        page = space.page(node, "hold")
        assert space.browser.open(page).status_code == 403
        form = {"csrf": space.browser.forms["/console/logout"]["csrf"], "reason": "Mine"}
        for action in ("", "/release"):
            assert space.browser.open(f"{page}{action}", form).status_code == 403
        path = f"{space.tenant}/holds?fileId={node['id']}"
        assert space.api.get(path, by=space.admin).json["data"] == []


def share(space: Space, node: Json, person: Person) -> None:
    body = {"ownerId": person.id, "permission": "read"}
    path = f"{space.tenant}/files/{node['id']}/owners"
    assert space.api.post(path, body, by=space.admin).status_code == 201
