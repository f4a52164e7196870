"""The brands of clients, and clients that are disabled."""

import base64
import struct
import zlib
from typing import Any

import pytest
from tests.support.api import Answer, Api, Json, Person, error_code
from tests.support.relying_party import post_form

from strongroom.foundation.database.upgrade import upgrade
from strongroom_oidc_provider.plugin import register_tables

ROOT = "/api/v1/clients"
URI = "https://wiki.example.com/callback"
SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h8v8z"/></svg>'

pytestmark = pytest.mark.config(
    {"plugins": {"enabled": ["storage_local", "login_pages", "oidc_provider"]}}
)


def png(width: int = 1, height: int = 1) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        sum_ = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", sum_)

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(b"\0\0"))
    return b"\x89PNG\r\n\x1a\n" + head + pixels + chunk(b"IEND", b"")


WRONG = {
    "html": b"<html></html>",
    "large": png() + b"x" * 100_000,
    "bomb": png(50_000, 50_000),
    "no-size": png(0, 0),
    "no-header": b"\x89PNG\r\n\x1a\n" + b"x" * 40,
    "script": b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>",
    "handler": b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'></svg>",
    "entity": b'<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>',
    "jpeg": b"\xff\xd8\xff" + b"x" * 20,
}


@pytest.fixture
def root(api: Api) -> Person:
    upgrade(api.container.database.engine, {"oidc_provider": register_tables()})
    return api.person(admin=True)


def create(api: Api, by: Person, **changes: Any) -> Json:
    body = {"name": "Wiki", "redirectUris": [URI], **changes}
    created: Json = api.post(ROOT, body, by=by).json
    return created


def set_logo(api: Api, by: Person, client: Json, content: bytes) -> Answer:
    body = {"picture": base64.b64encode(content).decode()}
    return api.put(f"{ROOT}/{client['id']}/logo", body, by=by)


def login_page(api: Api, client: Json) -> str:
    """Return the page of the login that a request of a client leads to."""
    query = {
        "response_type": "code",
        "client_id": client["id"],
        "redirect_uri": URI,
        "scope": "openid",
        "code_challenge": "x" * 43,
        "code_challenge_method": "S256",
    }
    browser = api.app.test_client()
    page = browser.get("/oauth2/authorize", query_string=query, follow_redirects=True)
    assert page.request.path == "/account/login", page.text
    return page.text


def test_the_login_of_a_client_has_its_brand(api: Api, root: Person) -> None:
    terms, privacy = "https://wiki.example.com/terms", "https://wiki.example.com/privacy"
    client = create(api, root, accent="#0b7f62", termsUrl=terms, privacyUrl=privacy)
    logo = set_logo(api, root, client, png()).json["logo"]
    page = login_page(api, client)
    assert "<bdi>Wiki</bdi>" in page
    assert f'<img src="{logo}" alt="">' in page
    assert f'<a href="{terms}" rel="noreferrer">' in page
    assert f'<a href="{privacy}" rel="noreferrer">' in page
    assert "--accent: light-dark(#0b7f62," in page
    assert "Wiki" not in api.app.test_client().get("/account/login").text


def test_labels_and_links_remain_readable_on_any_accent(api: Api, root: Person) -> None:
    page = login_page(api, create(api, root, accent="#ffff00"))
    assert "--accent-ink: light-dark(#000000, #000000);" in page
    assert "--link: light-dark(#ffff00" not in page


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("accent", "red"),
        ("accent", "#0b7f62;}"),
        ("accent", "#0b7f62\n"),
        ("termsUrl", "http://wiki.example.com/"),
        ("termsUrl", "javascript:alert(1)"),
        ("termsUrl", 'https://wiki.example.com/"onclick='),
        ("privacyUrl", "https://user@wiki.example.com/"),
        ("privacyUrl", "https://wiki.example.com/" + "x" * 512),
    ],
    ids=range(8),
)
def test_another_value_is_refused(api: Api, root: Person, member: str, value: str) -> None:
    body = {"name": "Wiki", "redirectUris": [URI], member: value}
    assert error_code(api.post(ROOT, body, by=root)) == "error.validation-failed"


@pytest.mark.parametrize("content", [png(), SVG], ids=["png", "svg"])
def test_a_logo_is_sent_as_a_picture_that_runs_nothing(api: Api, root: Person, content: bytes) -> None:
    client = set_logo(api, root, create(api, root), content).json
    answer = api.app.test_client().get(client["logo"])
    assert answer.data == content
    assert answer.content_type == ("image/png" if content == png() else "image/svg+xml")
    assert answer.headers["Content-Security-Policy"].endswith("sandbox")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "immutable" in answer.headers["Cache-Control"]
    removed = api.delete(f"{ROOT}/{client['id']}/logo", by=root).json
    assert removed["logo"] is None
    assert api.app.test_client().get(client["logo"]).status_code == 404


@pytest.mark.parametrize("case", WRONG)
def test_another_content_is_no_logo(api: Api, root: Person, case: str) -> None:
    client = create(api, root)
    assert error_code(set_logo(api, root, client, WRONG[case])) == "error.client-logo-refused"
    assert api.get(f"{ROOT}/{client['id']}", by=root).json["logo"] is None


def test_the_picture_of_another_client_is_not_found(api: Api, root: Person) -> None:
    one, other = create(api, root), create(api, root)
    logo = set_logo(api, root, one, png()).json["logo"]
    assert api.app.test_client().get(logo.replace(one["id"], other["id"])).status_code == 404


def test_a_deleted_client_has_no_picture(api: Api, root: Person) -> None:
    client = create(api, root)
    logo = set_logo(api, root, client, png()).json["logo"]
    api.delete(f"{ROOT}/{client['id']}", by=root)
    assert api.app.test_client().get(logo).status_code == 404


def test_a_disabled_client_logs_no_user_in(api: Api, root: Person) -> None:
    client = create(api, root)
    path, query = f"{ROOT}/{client['id']}", {"client_id": client["id"], "redirect_uri": URI}
    disabled = api.post(f"{path}/disable", by=root).json
    assert disabled["disabledAt"] is not None
    browser = api.app.test_client()
    assert browser.get("/oauth2/authorize", query_string=query).status_code == 400
    sent = {
        "grant_type": "refresh_token",
        "refresh_token": "x",
        "client_id": client["id"],
        "client_secret": client["secret"],
    }
    refused = post_form(api, "/oauth2/token", sent)
    assert (refused.status_code, refused.json["error"]) == (401, "invalid_client")
    assert api.post(f"{path}/enable", by=root).json["disabledAt"] is None
    assert post_form(api, "/oauth2/token", sent).json["error"] == "invalid_grant"
    assert login_page(api, client)


def test_the_audit_log_has_each_change(api: Api, root: Person) -> None:
    client = create(api, root)
    path = f"{ROOT}/{client['id']}"
    api.post(f"{path}/disable", by=root)
    api.post(f"{path}/disable", by=root)
    api.post(f"{path}/enable", by=root)
    set_logo(api, root, client, png())
    records = api.get(f"/audit-events?targetId={client['id']}", by=root).json["data"]
    assert [item["action"].rpartition("client-")[2] for item in records] == [
        "update",
        "enable",
        "disable",
        "create",
    ]


def test_the_usage_has_the_ends_of_both_secrets(api: Api, root: Person) -> None:
    client = create(api, root)
    path = f"{ROOT}/{client['id']}"
    api.post(f"{path}/rotate-secret", {"overlapSeconds": 600}, by=root)
    usage = api.get(f"{path}/usage", by=root).json
    assert (usage["users"], usage["lastUsedAt"]) == (0, None)
    assert [item["endsAt"] is None for item in usage["secrets"]] == [True, False]
    assert all(set(item) == {"createdAt", "endsAt"} for item in usage["secrets"])
    api.clock.advance(600_000)
    assert len(api.get(f"{path}/usage", by=root).json["secrets"]) == 1


@pytest.mark.parametrize("method", ["disable", "enable", "usage", "logo"])
def test_others_may_not(api: Api, root: Person, method: str) -> None:
    path, user = f"{ROOT}/{create(api, root)['id']}/{method}", api.person()
    answer = api.get(path, by=user) if method == "usage" else api.post(path, by=user)
    if method == "logo":
        answer = api.put(path, {"picture": "x"}, by=user)
    assert error_code(answer) == "error.forbidden"
