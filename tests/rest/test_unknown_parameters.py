"""Unknown query parameters are refused by name, except by pages and public files."""

from collections.abc import Iterator

import pytest
from tests.support.api import Api
from tests.support.config import lifted
from tests.support.databases import on_sqlite

from strongroom.web.http.routing import Operation

pytestmark = [
    on_sqlite,
    pytest.mark.config(
        {
            "plugins": {
                "enabled": ["storage_local", "login_passkey", "share_links", "webhooks", "login_pages"]
            }
        },
        lifted(),
    ),
]


def requests(api: Api) -> Iterator[tuple[str, str]]:
    """Yield each method and path of the operations."""
    for rule in api.app.url_map.iter_rules():
        built = rule.build(dict.fromkeys(rule.arguments, "x"))
        view = api.app.view_functions[rule.endpoint]
        if isinstance(view, Operation) and built and not view.ignores_unknown:
            yield from ((method, built[1]) for method in sorted(rule.methods or ()))


def test_each_route_refuses_them_by_name(api: Api) -> None:
    root, refused = api.person(admin=True), 0
    for method, path in requests(api):
        answer = api.request(method, f"{path}?bogus=1", by=root)
        # Flask answers most OPTIONS; and who may not call a route learns nothing of its parameters.
        if (method, answer.status_code) == ("OPTIONS", 200) or answer.status_code in (401, 403):
            continue
        assert answer.status_code == 400, (method, path, answer.text)
        if method != "HEAD":
            details = answer.json["error"]["details"]
            assert ("bogus", "unknown-field") in [(item["field"], item["code"]) for item in details]
        refused += 1
    assert refused >= 150


def test_an_operation_that_is_not_enabled_says_so_whatever_the_query(api: Api) -> None:
    answer = api.get("/api/v1/wechat-authorizations/scan?app=site")
    assert answer.status_code == 501


def test_pages_of_mounts_take_any_query(api: Api) -> None:
    assert api.get("/account/login?utm_source=mail").status_code == 200
