"""No endpoint of the plugin fails on a forged request, or stores anything for it."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import func, select
from tests.support.api import Api, Person
from tests.support.config import lifted, merged
from tests.support.relying_party import PLUGINS, RelyingParty

from strongroom_oidc_provider.models import metadata

BLUEPRINTS = ("clients", "client-brands", "consents", "oidc")
NAMES = [
    *("response_type", "redirect_uri", "scope", "state", "nonce", "prompt", "max_age", "acr_values"),
    *("code", "code_challenge", "code_challenge_method", "code_verifier", "grant_type", "resource"),
    *("token", "refresh_token", "device_code", "user_code", "request", "request_uri", "decision"),
    *("id_token_hint", "post_logout_redirect_uri", "authorization_details", "folder"),
]
ACCEPTED = {"access_token", "id_token", "device_code", "request_uri", "sub", "secret"}
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
GRANT = "urn:ietf:params:oauth:grant-type:device_code"


ENDPOINTS = {
    ("POST", "/oauth2/device-authorization"),
    ("POST", "/device"),
    ("POST", "/oauth2/par"),
    ("POST", "/oauth2/register"),
    ("PUT", "/api/v1/clients/x/logo"),
    ("POST", "/oauth2/introspect"),
    ("POST", "/oauth2/revoke"),
    ("POST", "/oauth2/token"),
    ("POST", "/oauth2/logout"),
}
# The registration refuses all requests before it reads them unless it is open.
OPEN = {"registration": "open", "registrations_per_address": ["1000/hour"]}

pytestmark = pytest.mark.config(
    merged(lifted(), {"plugins": {"enabled": PLUGINS, "oidc_provider": OPEN}})
)


def fields(value: str, **known: str) -> str:
    return urlencode({**dict.fromkeys(NAMES, value), **known})


FORGERIES: dict[str, tuple[str, str | bytes]] = {
    "NUL": (FORM, fields("a\0b")),
    "NUL in known values": (FORM, fields("\0", grant_type="refresh_token", response_type="code")),
    "not UTF-8": (FORM, "&".join(f"{name}=%ff%fe%C0%80" for name in NAMES)),
    "not ASCII": (FORM, fields("\u00fc\u6f22\U0001f600\u202e", grant_type="authorization_code")),
    "digits of other scripts": (FORM, fields("\u0663\u00b2", response_type="code")),
    "duplicates": (FORM, f"{fields('a')}&{fields('b')}"),
    "device code with NUL": (FORM, fields("a\0", grant_type=GRANT)),
    "long values": (FORM, fields("x" * 4000)),
    "many fields": (FORM, "&".join(f"field{number}=x" for number in range(5000))),
    "broken escapes": (FORM, "&".join(f"{name}=%zz%" for name in NAMES)),
    "empty": (FORM, ""),
    "deep JSON": (JSON, "[" * 50_000),
    "deep objects": (JSON, '{"a":' * 20_000 + "1" + "}" * 20_000),
    "deep details": (FORM, fields("[" * 3000, response_type="code")),
    "a list": (JSON, "[1, 2]"),
    "a number too large": (JSON, '{"name": 1e999, "redirectUris": NaN}'),
    "a surrogate": (JSON, '{"name": "\\ud800", "redirectUris": ["\\ud800"], "logo": "\\u0000"}'),
    "NUL in JSON": (JSON, '{"name": "a\\u0000", "redirectUris": ["https://a.example/\\u0000"]}'),
    "not UTF-8 in JSON": (JSON, b'{"name": "\xff\xfe"}'),
    "NUL in metadata": (
        JSON,
        '{"client_name": "a\\u0000", "redirect_uris": ["https://a.example/\\u0000"]}',
    ),
    "a surrogate in a redirect URI": (
        JSON,
        '{"client_name": "a", "redirect_uris": ["https://\\ud800/"]}',
    ),
    "metadata of other types": (
        JSON,
        '{"client_name": [], "redirect_uris": {"a": 1}, "picture": 1e400}',
    ),
    "a logout at no URL": (
        JSON,
        '{"name": "a", "redirectUris": [], "backchannelLogoutUri": "//\\u0000"}',
    ),
    "a picture that is none": (JSON, '{"picture": "AAAA\\u0000===="}'),
    "a document as the client": (
        FORM,
        fields("https://a.example/%00/../\\@b", client_id="https://[::1]:x/a"),
    ),
    "UTF-16": (f"{FORM}; charset=utf-16", fields("a").encode("utf-16")),
    "an unknown charset": (f"{JSON}; charset=nothing", "{}"),
    "multipart without a boundary": ("multipart/form-data", "--x\r\n\r\n"),
    "multipart without an end": (
        "multipart/form-data; boundary=x",
        "--x\r\nContent-Disposition: form-da",
    ),
    "no media type": ("", b"\x00\xff" * 500),
}
PARTS = ("x", "%00", "%ff", "\u6f22", "..%2f..", "y" * 2000)


@pytest.fixture
def rp(api: Api) -> RelyingParty:
    return RelyingParty.register(api, public=True, redirectUris=[], deviceLogin=True)


def operations(api: Api, part: str) -> Iterator[tuple[str, str]]:
    """Yield the methods and paths of the plugin, with one text as each variable part."""
    for rule in api.app.url_map.iter_rules():
        if rule.endpoint.partition(".")[0] in BLUEPRINTS:
            path = re.sub(r"<[^>]+>", part, rule.rule)
            yield from (
                (method, path) for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
            )


def count_rows(api: Api) -> dict[str, Any]:
    with api.container.database.engine.connect() as connection:
        return {
            name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in metadata.tables.items()
        }


def send(api: Api, method: str, path: str, **options: Any) -> Any:
    return api.app.test_client().open(path, method=method, **options)


def test_the_list_has_all_endpoints(api: Api) -> None:
    sent = {*operations(api, "x")}
    assert sent >= ENDPOINTS


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_request_neither_fails_nor_is_accepted(
    api: Api, rp: RelyingParty, forgery: str
) -> None:
    media_type, body = FORGERIES[forgery]
    administrator: Person = api.person(admin=True)
    before = count_rows(api)
    part = PARTS[list(FORGERIES).index(forgery) % len(PARTS)]
    named = body
    if media_type == FORM and "client_id" not in str(body):
        named = f"{body!s}&client_id={rp.id}"
    sent = list(operations(api, part))
    assert len(sent) > 20
    for method, path in sent:
        query = named if method == "GET" and isinstance(named, str) and media_type == FORM else ""
        content = {} if method == "GET" else {"data": named, "content_type": media_type}
        for headers in (
            {"Authorization": f"Bearer {administrator.token}"},
            {"Authorization": "Basic \u00ff:AAAA"},
        ):
            answer = send(api, method, path, query_string=query, headers=headers, **content)
            assert answer.status_code < 500, (method, path, answer.text)
            assert answer.headers.get("Location", "/").startswith("/"), (method, path)
            members = answer.get_json(silent=True)
            if isinstance(members, dict):
                assert not ACCEPTED & members.keys()
                assert not members.get("active")
    assert count_rows(api) == before


@pytest.mark.parametrize("forgery", [name for name, (kind, _) in FORGERIES.items() if kind != FORM])
def test_a_forged_logo_of_a_known_client_is_refused(api: Api, rp: RelyingParty, forgery: str) -> None:
    media_type, body = FORGERIES[forgery]
    headers = {"Authorization": f"Bearer {api.person(admin=True).token}"}
    before = count_rows(api)
    path = f"/api/v1/clients/{rp.id}/logo"
    answer = send(api, "PUT", path, headers=headers, data=body, content_type=media_type)
    assert 400 <= answer.status_code < 500, answer.text
    assert count_rows(api) == before
