"""The OpenAPI document and the files of its page are compressed, and sent again only if they changed."""

import gzip
import json

import pytest
from tests.support.api import Api
from tests.support.databases import on_sqlite

pytestmark = on_sqlite


@pytest.mark.parametrize("path", ["/openapi.json", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css"])
def test_it_is_compressed_for_clients_that_accept_it(api: Api, path: str) -> None:
    plain = api.get(path)
    packed = api.get(path, headers={"Accept-Encoding": "gzip, br"})
    assert (plain.headers.get("Content-Encoding"), packed.headers["Content-Encoding"]) == (None, "gzip")
    assert gzip.decompress(packed.data) == plain.data
    assert len(packed.data) < len(plain.data) / 3
    assert plain.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize("path", ["/openapi.json", "/docs/swagger-ui-bundle.js"])
@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_it_is_sent_again_only_if_it_changed(api: Api, path: str, coding: str) -> None:
    headers = {"Accept-Encoding": coding}
    first = api.get(path, headers=headers)
    assert first.headers["Cache-Control"] == "no-cache"
    again = api.get(path, headers={**headers, "If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_both_representations_have_their_own_tag(api: Api) -> None:
    tags = {
        api.get("/openapi.json", headers={"Accept-Encoding": c}).headers["ETag"] for c in ("gzip", "x")
    }
    assert len(tags) == 2


def test_it_is_json(api: Api) -> None:
    answer = api.get("/openapi.json")
    assert answer.headers["Content-Type"] == "application/json"
    assert json.loads(answer.data)["openapi"].startswith("3.1")
