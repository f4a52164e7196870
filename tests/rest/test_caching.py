"""The Cache-Control of each kind of answer: its route's policy, otherwise `no-store`."""

from collections.abc import Mapping

import pytest
from tests.support.api import Answer, Api
from tests.support.databases import on_sqlite

from strongroom.web.http.caching import DAY, NO_STORE, PRIVATE_REVALIDATED, REVALIDATED, public

pytestmark = on_sqlite

PAGE = {"Accept": "text/html", "Sec-Fetch-Mode": "navigate"}


def check(answer: Answer, status: int, policy: str) -> None:
    assert (answer.status_code, answer.headers.getlist("Cache-Control")) == (status, [policy])


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", {}, 200),
        ("/", PAGE, 200),
        ("/setup", PAGE, 200),
        ("/docs", PAGE, 200),
        ("/nowhere", {}, 404),
        ("/nowhere", PAGE, 404),
        ("/static/x/y/z.js", {}, 404),
        ("/api/v1/tenants", {}, 401),
    ],
)
def test_a_public_answer_without_a_policy_is_not_stored(
    api: Api, path: str, headers: Mapping[str, str], status: int
) -> None:
    check(api.get(path, headers=headers), status, NO_STORE)


def test_an_answer_to_a_user_is_not_stored(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    check(api.get(tenant, by=alice), 200, NO_STORE)
    check(api.post("/api/v1/tenants", {"name": "Second"}, by=alice), 201, NO_STORE)
    check(api.post("/api/v1/tenants", {}, by=alice), 400, NO_STORE)
    check(api.request("OPTIONS", tenant), 200, NO_STORE)


def test_a_download_is_revalidated(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    path = f"{tenant}/files/{api.upload(tenant, alice, 'a.bin', b'x')['id']}/download"
    whole = api.get(path, by=alice)
    check(whole, 200, PRIVATE_REVALIDATED)
    check(api.request("HEAD", path, by=alice), 200, PRIVATE_REVALIDATED)
    check(api.get(path, by=alice, headers={"Range": "bytes=0-0"}), 206, PRIVATE_REVALIDATED)
    tag = {"If-None-Match": whole.headers["ETag"]}
    check(api.get(path, by=alice, headers=tag), 304, PRIVATE_REVALIDATED)
    check(api.get(path, by=alice, headers={"Range": "bytes=9-"}), 416, NO_STORE)


@pytest.mark.parametrize(
    ("path", "status", "policy"),
    [
        ("/openapi.json", 200, REVALIDATED),
        ("/docs/swagger-ui.css", 200, REVALIDATED),
        ("/.well-known/jwks.json", 200, public(300)),
        ("/api/v1/login-providers", 200, public(300)),
        ("/favicon.ico", 204, public(DAY)),
    ],
)
def test_a_route_states_that_caches_may_store_its_answer(
    api: Api, path: str, status: int, policy: str
) -> None:
    check(api.get(path), status, policy)
