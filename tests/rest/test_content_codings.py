"""Lists are compressed for clients that accept it; responses that could hold a secret never are."""

import gzip
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import pytest
from tests.support.api import Answer, Api, Json, Person
from tests.support.config import lifted
from tests.support.databases import on_sqlite

from strongroom.foundation.database.upgrade import upgrade
from strongroom.plugin_api.host import HostAPI
from strongroom.web.http.routing import Operation

PLUGINS: Final = ("storage_local", "console", "login_pages", "login_passkey", "share_links", "webhooks")
pytestmark = [
    on_sqlite,
    pytest.mark.config({"plugins": {"enabled": list(PLUGINS)}}, lifted()),
]

ACCEPTED: Final[Mapping[str, tuple[bool, bool]]] = {
    "gzip": (True, False),
    "GZIP": (True, False),
    "x-gzip": (True, False),
    "gzip, deflate, br, zstd": (True, False),
    "br;q=1, gzip;q=0.001": (True, False),
    "*": (True, False),
    "*;q=0.5": (True, False),
    "gzip;q=1, *;q=0": (True, True),
    "identity;q=0, *": (True, True),
    "identity;q=0, gzip;q=0.1": (True, True),
    "gzip;q=0.5, identity;q=0.5": (True, False),
    "gzip;q=0.5, identity;q=0.8": (False, False),
    "identity": (False, False),
    "br, zstd": (False, False),
    "gzip;q=0": (False, False),
    "gzip;q=0, x-gzip;q=1": (False, False),
    "gzip;q=0, *": (False, False),
    "gzip;q=2": (False, False),
    "gzipped": (False, False),
    "identity;q=0": (False, False),
    "*;q=0": (False, False),
    ",;q=1,,": (False, False),
    "": (False, False),
}
"""Whether a list of more, and of less than 1 KiB is compressed, by Accept-Encoding."""

UNCOMPRESSED: Final[Mapping[str, str]] = {
    "list_access_keys": "keys of a user, whose names others may choose",
    "list_authorizations": "logins of a user: short",
    "list_client_actions": "actions of one client: short",
    "list_credentials": "contacts of a user: short",
    "list_factors": "second factors of a user: short",
    "list_invitations": "invitations may have links",
    "list_login_providers": "has an entity tag",
    "list_passkeys": "passkeys of a user: short",
    "list_received_invitations": "invitations may have links",
    "list_service_account_keys": "keys of an account, whose names others may choose",
    "list_shared_files": "the secret of the share is in the links to pages",
    "list_shared_files_in_folder": "the secret of the share is in the links to pages",
    "list_shared_with_me": "URLs of shares have secrets",
    "list_shares": "URLs of shares have secrets",
    "list_shares_of_file": "URLs of shares have secrets",
    "list_webhook_deliveries": "responses of the receivers",
    "list_webhook_endpoints": "URLs of receivers may have secrets",
}
"""The lists that are not compressed, with the reasons."""


@pytest.fixture
def alice(api: Api) -> Person:
    return api.person(admin=True)


@pytest.fixture
def tenant(api: Api, alice: Person) -> str:
    """The path of a tenant whose administrator has six folders."""
    tenant = api.tenant(alice)
    for number in range(6):
        api.folder(tenant, alice, f"folder {number}")
    return tenant


def get(api: Api, path: str, by: Person | None, accepted: str = "gzip", **options: str) -> Answer:
    return api.get(path, by=by, headers={"Accept-Encoding": accepted, **options})


def coding(answer: Answer) -> str | None:
    return answer.headers.get("Content-Encoding")


def test_a_list_is_coded_as_the_client_accepts(api: Api, alice: Person, tenant: str) -> None:
    large, small = f"{tenant}/owners/me/files", f"{tenant}/trash"
    for path in (large, small):
        plain = api.get(path, by=alice)
        assert (coding(plain), len(plain.data) >= 1024) == (None, path == large)
        for accepted, expected in ACCEPTED.items():
            answer = get(api, path, alice, accepted)
            is_coded = expected[path == small]
            assert coding(answer) == ("gzip" if is_coded else None), (accepted, path)
            data = gzip.decompress(answer.data) if is_coded else answer.data
            assert data == plain.data, accepted
            assert answer.headers["Content-Length"] == str(len(answer.data))
            assert answer.headers.getlist("Vary") == ["Accept-Encoding"]
    assert len(get(api, large, alice).data) < len(api.get(large, by=alice).data) / 3


def test_head_has_the_headers_of_get(api: Api, alice: Person, tenant: str) -> None:
    path, headers = f"{tenant}/owners/me/files", {"Accept-Encoding": "gzip", "X-Request-Id": "one"}
    whole = api.get(path, by=alice, headers=headers)
    head = api.request("HEAD", path, by=alice, headers=headers)
    assert (coding(head), head.data) == ("gzip", b"")
    assert sorted(head.headers) == sorted(whole.headers)


def test_each_list_is_compressed_or_has_a_reason(api: Api) -> None:
    lists = {
        view.__name__: view
        for view in api.app.view_functions.values()
        if isinstance(view, Operation)
        and view.description.returns is not None
        and "meta" in view.description.returns._declared_fields
    }
    assert {name for name, view in lists.items() if not view.compress} == UNCOMPRESSED.keys()
    assert len(lists) - len(UNCOMPRESSED) >= 20


class TestSecrets:
    """A response with a secret, or with bytes of a file, has no content coding."""

    def test_tokens_and_shares(self, api: Api, alice: Person, tenant: str) -> None:
        upgrade(api.container.database.engine, api.container.selection.plugins.tables)
        headers = {"Accept-Encoding": "gzip, identity;q=0"}
        folder = api.get(f"{tenant}/owners/me/files", by=alice).json["data"][0]["id"]
        body: Json = {"username": alice.email, "password": "Correct1Horse"}
        answers = [api.post("/authorizations", body, headers=headers)]
        for _ in range(4):
            shares = f"{tenant}/files/{folder}/shares"
            body = {"kind": "read", "label": "x" * 60}
            answers.append(api.post(shares, body, by=alice, headers=headers))
        assert all(answer.status_code in (200, 201) for answer in answers), answers[-1].text
        secret = answers[-1].json["url"].rpartition("/")[2]
        paths = (f"{tenant}/shares", f"{tenant}/files/{folder}/shares", f"/api/v1/shares/{secret}/files")
        answers += [api.get(path, by=alice, headers=headers) for path in paths]
        assert len(answers[-3].data) > 1024
        for answer in answers:
            assert (coding(answer), answer.json is None) == (None, False)
            assert "Accept-Encoding" not in answer.headers.get("Vary", "")

    def test_pages_and_errors(self, api: Api, alice: Person, tenant: str) -> None:
        errors = "&".join(f"unknown{number}=1" for number in range(40))
        for path in ("/account/login", f"{tenant}/owners/me/files?{errors}", "/nowhere"):
            answer = get(api, path, alice, "gzip, identity;q=0")
            assert coding(answer) is None, path
        assert len(get(api, "/account/login", None).data) > 1024

    def test_content_of_files(self, api: Api, alice: Person, tenant: str) -> None:
        content = b'{"a": 1}' * 1000
        path = f"{tenant}/files/{api.upload(tenant, alice, 'a.json', content)['id']}/download"
        whole = get(api, path, alice)
        assert coding(whole) is None
        part = get(api, path, alice, Range="bytes=0-4999")
        assert (coding(part), part.status_code, part.data) == (None, 206, content[:5000])
        again = get(api, path, alice, **{"If-None-Match": whole.headers["ETag"]})
        assert (coding(again), again.status_code) == (None, 304)

    def test_streams_of_changes(self, api: Api, alice: Person, tenant: str) -> None:
        with api.app.test_client() as client:
            headers = {"Accept": "text/event-stream", "Accept-Encoding": "gzip, identity;q=0"}
            headers["Authorization"] = f"Bearer {alice.token}"
            with client.get(f"{tenant}/changes", headers=headers, buffered=False) as stream:
                assert stream.mimetype == "text/event-stream"
                assert "Content-Encoding" not in stream.headers


def test_entity_tags_are_those_of_what_the_client_got(api: Api, alice: Person, tenant: str) -> None:
    """A resource with a revision has one coding, so the tag is good whatever the client accepts."""
    tags = {get(api, tenant, alice, accepted).headers["ETag"] for accepted in ("gzip", "identity")}
    (tag,) = tags
    for accepted in ("gzip", "identity"):
        assert get(api, tenant, alice, accepted, **{"If-None-Match": tag}).status_code == 304
    headers = {"If-Match": tag, "Accept-Encoding": "gzip"}
    assert api.patch(tenant, {"name": "Other"}, by=alice, headers=headers).status_code == 200
    assert api.patch(tenant, {"name": "Third"}, by=alice, headers=headers).status_code == 412


@contextmanager
def host_of_browser(api: Api) -> Iterator[HostAPI]:
    """Play a plugin's view, which serves the request of a browser."""
    with api.app.test_request_context("/page", headers={"Accept-Encoding": "gzip"}):
        yield api.container.hosts.get("storage_local")


def test_requests_of_plugins_get_no_coding(api: Api, alice: Person, tenant: str) -> None:
    with host_of_browser(api) as host:
        for headers in ({}, {"Accept-Encoding": "gzip"}):
            listed = host.rest("GET", f"{tenant}/owners/me/files", token=alice.token, headers=headers)
            assert json.loads(listed.content) == listed.json
            assert "content-encoding" not in listed.headers
