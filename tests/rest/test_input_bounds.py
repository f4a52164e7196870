"""Wrong input is cheap: short answers, and limits that count before anything is parsed.

``STRONGROOM_TEST_WRONG_BODIES`` is how many kinds of wrong bodies are sent to each route; with all 12,
the processor time of each request is bounded, too.
"""

import ctypes
import gc
import json
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.support.api import Answer, Api, Person, error_code
from tests.support.campaign import campaign_size
from tests.support.config import Table, lifted, merged
from tests.support.databases import SqliteDatabases
from werkzeug.routing import Rule

from strongroom.extensions.user_management.schemas import RegistrationSchema
from strongroom.foundation.database.upgrade import upgrade
from strongroom.foundation.errors import MalformedRequest
from strongroom.testing.clock import ManualClock
from strongroom.web.http.bounded_body import FORM_FIELDS
from strongroom.web.http.input_bounds import CALLER_BYTES, LARGEST_BYTES, PUBLIC_BYTES
from strongroom.web.http.parsing import MAX_VALUES, parse_json
from strongroom.web.http.route_parts import needs_caller
from strongroom.web.http.routing import Operation
from strongroom_share_links.plugin import register_tables

logger = logging.getLogger(__name__)

LARGEST_ANSWER = 16 * 1024
MOST_SECONDS = 0.05
MOST_GROWTH_KIB = 2 * 1024
LARGE = "error.payload-too-large"
MEGABYTE = 1024 * 1024
PLUGINS = [
    "storage_local",
    "login_sms",
    "login_wechat",
    "login_wecom",
    "login_passkey",
    "login_pages",
    "factor_totp",
    "share_links",
    "webhooks",
]
WECHAT_APP = {
    "kind": "website",
    "appid": "wx00000000000000a1",
    "secret": "a-secret",
    "redirect_uri": "http://127.0.0.1:8000/api/v1/wechat-authorizations/callback",
}
WECOM_APP = {"corpid": "ww00000000000000a1", "agentid": 1000002, "secret": "a-secret"}
"""Its routes are those of all logins by ``strongroom-login-oauth``."""
UNLIMITED = {
    "/": "a page that reads nothing",
    "/favicon.ico": "it reads nothing",
    "/livez": "probes must not depend on the counters",
    "/readyz": "probes must not depend on the counters",
    "/.well-known/jwks.json": "it reads nothing, and may be cached",
    "/api/v1/login-providers": "it reads nothing, and may be cached",
    "/.well-known/webauthn": "it reads nothing",
    "/.well-known/passkey-endpoints": "it reads nothing",
    "/.well-known/change-password": "it reads nothing",
    "/setup": "a page that reads nothing",
    "/api/v1/wechat-authorizations/scan": "a page",
    "/api/v1/wechat-authorizations/callback": "a page",
    "/api/v1/tenants/<tenant_id>/uploads": "it reads nothing",
    "/api/v1/shares/<secret>/uploads": "it reads nothing",
    "/api/v1/files/<file_name>": "downloads of public files",
    "/credentials/<credential>/available": "beyond its limit, it requires a captcha instead",
}
"""The paths of public routes that change nothing and have no limit, with the reasons."""


@pytest.fixture(params=["sqlite"])
def database_url(sqlite_databases: SqliteDatabases) -> Iterator[str]:
    """One database, because input is refused before any is read."""
    with sqlite_databases.create() as url:
        yield url


@pytest.fixture
def rates() -> Table:
    return merged(lifted(), {"plugins": {"share_links": {"anonymous_per_address": ["1000000/second"]}}})


@pytest.fixture
def config_changes(rates: Table) -> Table:
    login = {
        "methods": ["password", "sms", "wechat", "wecom"],
        "wechat": {"apps": {"site": WECHAT_APP}},
        "wecom": {"apps": {"main": WECOM_APP}},
    }
    return merged({"plugins": {"enabled": PLUGINS}, "login": login}, rates)


@pytest.fixture
def api(config: Path, clock: ManualClock) -> Iterator[Api]:
    with Api.running(config, clock) as api:
        upgrade(api.container.database.engine, {"share_links": register_tables()})
        yield api


@dataclass(frozen=True)
class Route:
    """An operation with one of its methods."""

    method: str
    rule: Rule
    operation: Operation

    @property
    def path(self) -> str:
        """A path that it serves."""
        built = self.rule.build(dict.fromkeys(self.rule.arguments, "x"))
        assert built is not None
        return built[1]

    @property
    def members(self) -> list[str]:
        """The members of its body."""
        parse: Any = self.operation.inputs["body"]
        # Without a token, POST /users is a registration.
        schema = RegistrationSchema if self.path == "/users" else parse.args[0]
        names = [field.data_key or name for name, field in schema().load_fields.items()]
        return names or ["unknown"]


def routes(api: Api) -> list[Route]:
    """Return all operations, from the map of URLs."""
    found = []
    for rule in api.app.url_map.iter_rules():
        operation = api.app.view_functions[rule.endpoint]
        if isinstance(operation, Operation):
            methods = (rule.methods or set()) - {"HEAD", "OPTIONS"} or {"OPTIONS"}
            found += [Route(method, rule, operation) for method in methods]
    return found


def public_routes(api: Api) -> list[Route]:
    return [route for route in routes(api) if not needs_caller(route.operation.access)]


def test_each_public_route_has_a_limit_and_a_bound(api: Api) -> None:
    found = public_routes(api)
    assert len(found) >= 40
    for route in found:
        what = (route.method, route.rule.rule)
        if route.rule.endpoint.startswith("reserved."):
            # It answers 501, because its plugin is not enabled.
            continue
        assert route.operation.max_body <= PUBLIC_BYTES, what
        if route.method in ("GET", "OPTIONS") and route.operation.limit is None:
            assert route.rule.rule in UNLIMITED, what
        else:
            assert route.operation.limit is not None, what


def test_all_routes_are_operations_but_the_documentation(api: Api) -> None:
    others = {
        endpoint for endpoint, view in api.app.view_functions.items() if not isinstance(view, Operation)
    }
    assert others == {"openapi_document", "api_docs.show", "api_docs.asset"}


@pytest.mark.parametrize(
    "rates",
    [
        {
            "limits": {name: ["1/hour"] for name in lifted()["limits"]},
            "plugins": {"share_links": {"anonymous_per_address": ["1/hour"]}},
        }
    ],
)
def test_limits_are_spent_before_anything_is_parsed(api: Api) -> None:
    limited = [route for route in public_routes(api) if route.operation.limit is not None]
    for number, route in enumerate(limited):
        options: Any = {
            "environ_overrides": {"REMOTE_ADDR": f"192.0.2.{number + 1}"},
            "headers": {"Content-Type": "application/json"},
        }
        api.request(route.method, f"{route.path}?unknown=1", data=b"{", **options)
        answer = api.request(route.method, f"{route.path}?unknown=1", data=b"{", **options)
        assert answer.status_code == 429, (route.method, route.path, answer.text)


Body = Callable[[list[str], int], bytes]


def filled(names: list[str], size: int, item: bytes, start: bytes = b"[", end: bytes = b"]") -> bytes:
    """Return an object in which each member is a list of equal items."""
    share = size // max(1, len(names)) - 40
    members = [
        json.dumps(name).encode() + b":" + start + b",".join([item] * (share // (len(item) + 1))) + end
        for name in names
    ]
    return b"{" + b",".join(members) + b"}"


def unknown_members(_names: list[str], size: int) -> bytes:
    return b"{" + b",".join(b'"a%d":1' % number for number in range(size // 11)) + b"}"


BODIES: dict[str, Body] = {
    "lists of objects": lambda names, size: filled(names, size, b"{}"),
    "as many objects as a list may have": lambda names, _: filled(names, 2970 * len(names), b"{}"),
    "unknown members": unknown_members,
    "brackets in texts": lambda names, size: filled(names, size, b"\\u0001[", b'"', b'"').replace(
        b",", b""
    ),
    "lists of lists": lambda names, size: filled(names, size, b"[{}]"),
    "lists of objects with unknown members": lambda names, size: filled(names, size, b'{"a":1,"b":{}}'),
    "long texts": lambda names, size: filled(names, size, b"\\u0001", b'"', b'"').replace(b",\\", b"\\"),
    "objects": lambda names, size: filled(names, size, b'"a":1', b"{", b"}"),
    "one long unknown name": lambda names, size: b'{"' + "名".encode() * (size // 3 - 5) + b'":1}',
    "deep lists": lambda names, size: b"[" * (size // 2) + b"]" * (size // 2),
    "digits in texts": lambda names, size: filled(names, size, b'"' + b"1" * 70 + b'"'),
    "surrogates": lambda names, size: filled(names, size, b'"\\ud800"'),
}
ALL_KINDS = 12
KINDS = min(ALL_KINDS, campaign_size("WRONG_BODIES", 2))


class Campaign:
    """Sends wrong bodies, and keeps the worst figures."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self.largest: tuple[int, Any] = (0, None)
        self.slowest: tuple[float, Any] = (0.0, None)
        self.count = 0

    def send(self, route: Route, kind: str, size: int, by: Person | None = None) -> None:
        body = BODIES[kind](route.members, size - 100)
        what = (route.method, route.rule.rule, kind, size)
        self._note(what, lambda: self._request(route, body, by))

    def _request(self, route: Route, body: bytes, by: Person | None) -> Answer:
        # Without a length, as a chunked body arrives.
        chunked = {"wsgi.input": BytesIO(body), "wsgi.input_terminated": True}
        headers = {"Content-Type": "application/json"}
        return self._api.request(
            route.method, route.path, by=by, environ_overrides=chunked, headers=headers
        )

    def _note(self, what: Any, send: Callable[[], Answer]) -> None:
        began = time.process_time()
        answer = send()
        seconds = time.process_time() - began
        if seconds > MOST_SECONDS:
            # Once more, because a collection or a first use counts as part of a request.
            began = time.process_time()
            answer = send()
            seconds = min(seconds, time.process_time() - began)
        assert 400 <= answer.status_code < 500, (what, answer.status_code, answer.text[:300])
        assert len(answer.data) <= LARGEST_ANSWER, what
        self.count += 1
        self.largest = max(self.largest, (len(answer.data), what), key=lambda pair: pair[0])
        self.slowest = max(self.slowest, (seconds, what), key=lambda pair: pair[0])


def resident_kib() -> int:
    """Return how much memory this process has now."""
    gc.collect()
    # What the allocator keeps for later depends on the sizes of the bodies here, which tests make.
    ctypes.CDLL(None).malloc_trim(0)
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def run(
    api: Api, chosen: list[Route], sizes: Callable[[Route], list[int]], by: Person | None = None
) -> None:
    campaign = Campaign(api)
    with_body = [route for route in chosen if "body" in route.operation.inputs]

    def send_all(sizes: Callable[[Route], list[int]]) -> None:
        for route, kind in product(with_body, list(BODIES)[:KINDS]):
            for size in sizes(route):
                campaign.send(route, kind, size, by)

    send_all(sizes)
    # The first round fills caches and leaves gaps between allocated blocks, a second one reuses them.
    before = resident_kib()
    send_all(lambda route: sizes(route)[:1])
    growth = resident_kib() - before
    logger.warning(
        "%d routes, %d requests; largest answer %s; slowest %s; a second round grew memory by %d KiB",
        len(with_body),
        campaign.count,
        campaign.largest,
        campaign.slowest,
        growth,
    )
    assert growth <= MOST_GROWTH_KIB
    assert KINDS < ALL_KINDS or campaign.slowest[0] <= MOST_SECONDS, campaign.slowest


def test_wrong_bodies_of_public_routes_cost_little(api: Api) -> None:
    run(api, public_routes(api), lambda _: [PUBLIC_BYTES, MEGABYTE])


def test_wrong_bodies_of_callers_cost_little(api: Api) -> None:
    root = api.person(admin=True)
    # Chosen evenly, because each of them takes as long as a public one.
    chosen = [route for route in routes(api) if needs_caller(route.operation.access)]
    with_body = [route for route in chosen if "body" in route.operation.inputs]
    run(
        api,
        with_body if KINDS == ALL_KINDS else with_body[::6],
        lambda route: [route.operation.max_body],
        root,
    )


FORMS = {
    "fields": b"a&" * (PUBLIC_BYTES // 2 - 1),
    "unknown fields": b"&".join(b"a%d=1" % number for number in range(6000)),
    "a long name": b"a" * (PUBLIC_BYTES - 100),
    "a long value": b"token=" + b"%01" * (PUBLIC_BYTES // 3 - 100),
    "larger than allowed": b"token=" + b"a" * PUBLIC_BYTES,
}


@pytest.mark.parametrize("path", ["/authorizations/revocation", "/s/x", "/account/login"])
def test_wrong_forms_get_short_answers(api: Api, path: str) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    for kind, form in FORMS.items():
        answer = api.request("POST", path, data=form, headers=headers)
        assert len(answer.data) <= LARGEST_ANSWER, kind
        assert answer.status_code < 500, kind


QUERIES = {
    "names": "&".join(f"a{number}=1" for number in range(6000)),
    "900 names": "&".join(f"a{number}=1" for number in range(900)),
    "a long name": "a" * 60_000 + "=1",
    "long names": "&".join("a" * 1000 + str(number) for number in range(60)),
    "a long value": "pageNumber=" + "%01" * 20_000,
}


def test_a_form_has_a_bounded_number_of_fields(api: Api) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    path, form = "/authorizations/revocation", "a&" * FORM_FIELDS
    answer = api.request("POST", path, data=form, headers=headers)
    assert (answer.status_code, error_code(answer)) == (400, "error.malformed-request")


def test_wrong_queries_get_short_answers(api: Api) -> None:
    root = api.person(admin=True)
    for path in ("/livez", "/users", "/s/x", "/openapi.json"):
        for kind, query in QUERIES.items():
            answer = api.get(f"{path}?{query}", by=root)
            assert answer.status_code in (400, 404), (path, kind)
            assert len(answer.data) <= LARGEST_ANSWER, (path, kind)


def test_an_error_has_at_most_50_details(api: Api) -> None:
    names = {f"a{number}": 1 for number in range(50)}
    answer = api.post("/users", names)
    assert (answer.status_code, len(answer.json["error"]["details"])) == (400, 50)
    answer = api.post("/users", {**names, "another": 1})
    assert [item["message"] for item in answer.json["error"]["details"]] == ["Too many unknown fields."]


def test_the_length_of_a_list_is_checked_before_its_items(api: Api) -> None:
    answer = api.post("/users", {"verificationCodes": [{}] * 5})
    assert [(item["field"], item["message"]) for item in answer.json["error"]["details"]] == [
        ("verificationCodes", "Longer than maximum length 4.")
    ]


def test_a_body_of_too_many_values_is_refused_before_it_is_parsed() -> None:
    parse_json(b"[" + b"1," * (MAX_VALUES - 2) + b'"[[[,,,"]')
    with pytest.raises(MalformedRequest, match="more than 20000 values"):
        parse_json(b"[" + b"1," * MAX_VALUES)


def test_a_long_name_is_cut(api: Api) -> None:
    details = api.post("/users", {"a" * 60_000: 1}).json["error"]["details"]
    assert max(len(item["field"]) for item in details) == 200


@pytest.mark.parametrize("content_length", [True, False])
def test_a_body_of_a_public_route_has_at_most_64_kib(api: Api, content_length: bool) -> None:
    for size, expected in ((PUBLIC_BYTES, "error.validation-failed"), (PUBLIC_BYTES + 1, LARGE)):
        start, end = b'{"password": "', b'"}'
        body = start + b"a" * (size - len(start) - len(end)) + end
        chunked = {"wsgi.input": BytesIO(body), "wsgi.input_terminated": True}
        options: Any = {"data": body} if content_length else {"environ_overrides": chunked}
        headers = {"Content-Type": "application/json"}
        answer = api.request("POST", "/password-strength", headers=headers, **options)
        assert error_code(answer) == expected


def test_a_batch_may_be_larger_than_other_bodies(api: Api) -> None:
    bounds = {route.rule.rule: route.operation.max_body for route in routes(api)}
    assert bounds.pop("/api/v1/tenants/<tenant_id>/files-batches") == LARGEST_BYTES
    assert set(bounds.values()) == {PUBLIC_BYTES, CALLER_BYTES}


def test_the_redirect_of_another_server_may_have_parameters_of_its_own(api: Api) -> None:
    callback = "/api/v1/wechat-authorizations/callback"
    assert api.get(f"{callback}?code=a&state=b&iss=c").status_code == 200
    assert api.get("/api/v1/wechat-authorizations/scan?app=site&iss=c").status_code == 200


def test_a_whole_number_with_a_fraction_is_an_integer(api: Api) -> None:
    root = api.person(admin=True)
    tenant = api.tenant(root)
    headers = {"Content-Type": "application/json"}
    for text, status in (("2.0", 200), ("2e1", 200), ("2.5", 400), ("1e300", 400)):
        body = f'{{"quotaBytes": {text}}}'
        assert api.request("PATCH", tenant, by=root, data=body, headers=headers).status_code == status
