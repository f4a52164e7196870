"""``Allow`` names the methods of a resource: those, and no others, are served."""

import pytest
from tests.support.api import Api
from tests.support.config import lifted
from tests.support.databases import on_sqlite

from strongroom.web.http.routing import Operation

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
DROP = "/s/x/drop"
"""A path that GET serves, too: a file of the share with the name ``drop``."""


pytestmark = [
    on_sqlite,
    pytest.mark.config(
        {"plugins": {"enabled": ["storage_local", "login_passkey", "share_links", "webhooks"]}}, lifted()
    ),
]


def allowed(api: Api, path: str) -> set[str]:
    """Return the methods in the answer to OPTIONS, without that one."""
    return {name.strip() for name in api.request("OPTIONS", path).headers["Allow"].split(",")} - {
        "OPTIONS"
    }


def declared(api: Api) -> dict[str, set[str]]:
    """Return the methods of the operations, by a path of each route."""
    methods: dict[str, set[str]] = {}
    for rule in api.app.url_map.iter_rules():
        built = rule.build(dict.fromkeys(rule.arguments, "x"))
        if built and isinstance(api.app.view_functions[rule.endpoint], Operation):
            methods.setdefault(built[1], set()).update(rule.methods or set())
    return {path: names - {"OPTIONS"} for path, names in methods.items()}


def test_options_names_the_methods_of_the_route(api: Api) -> None:
    for path, methods in declared(api).items():
        # Uploads answer OPTIONS themselves.
        if path != DROP and not path.endswith("/uploads"):
            assert allowed(api, path) == methods, path


def test_other_methods_are_refused_and_named(api: Api) -> None:
    for path, methods in declared(api).items():
        for method in set(METHODS) - methods - ({"GET", "HEAD"} if path == DROP else set()):
            answer = api.request(method, path)
            assert answer.status_code == 405, (method, path)
            named = {name.strip() for name in answer.headers["Allow"].split(",")}
            assert named - {"GET", "HEAD", "OPTIONS"} == methods - {"GET", "HEAD"}, (method, path)


def test_a_fixed_path_has_no_methods_of_a_route_with_a_parameter(api: Api) -> None:
    assert allowed(api, "/authorizations/challenges") == {"POST"}
    assert api.delete("/authorizations/challenges").status_code == 405
    assert api.delete("/authorizations/unknown").status_code != 405


def test_a_file_of_a_share_may_have_the_name_of_a_route(api: Api) -> None:
    assert allowed(api, DROP) == {"GET", "HEAD", "POST"}
