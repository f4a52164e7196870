"""Parameters that trackers, messengers and cache busters append to links change no answer."""

import re
import sys
from collections.abc import Iterator
from itertools import cycle, islice, product
from typing import Any

import pytest
from tests.support.api import Answer, Api
from tests.support.appended import ACCEPTED, APPENDED
from tests.support.campaign import campaign_size
from tests.support.config import lifted
from tests.support.console_town import CONFIG, ConsoleTown, routes
from tests.support.databases import on_sqlite
from tests.support.mounted_pages import pages_of
from tests.support.page_browser import PageBrowser
from tests.support.shares import ALL_KINDS, PLUGINS, PNG, Shared

from strongroom.web.http.access import SAFE_METHODS
from strongroom.web.http.route_parts import needs_caller
from strongroom.web.http.routing import Operation

pytestmark = [
    on_sqlite,
    pytest.mark.config(
        {
            "plugins": {"enabled": [*PLUGINS, "login_pages"], "share_links": {"kinds": ALL_KINDS}},
        },
        lifted(),
    ),
]

LOGIN_PAGES = "/account"
VARYING = re.compile(r"""name="query" value="[^"]*|\?[^"<]*|[\w-]{20,}|\d\d:\d\d:\d\d""")
"""Queries of links and forms, which keep the page's query, secrets of forms, ids and times."""

CELLS = campaign_size("APPENDED_CELLS", 4)
"""How many of the 80 pairs of a parameter and an Accept header each page of an application gets."""


def linked(shared: Shared) -> Iterator[str]:
    """Yield the paths of pages and files that people open without a token."""
    api = shared.api
    share = shared.share().share
    secret = str(share["url"]).rpartition("/")[2]
    rest = f"/api/v1/shares/{secret}"
    headers = {"Content-Disposition": 'attachment; filename="a.png"'}
    sent = api.request("POST", "/api/v1/files/photos", by=shared.admin, headers=headers, data=PNG)
    yield f"/api/v1/files/{sent.json['fileName']}"
    yield from (f"/s/{secret}", f"/s/{secret}/", f"/s/{secret}/Inside/", f"/s/{secret}/note.txt")
    yield from (f"{rest}/files/{shared.file}/download", f"{rest}/files/{shared.picture}/preview")
    yield f"{rest}/download"
    yield from ("/", "/favicon.ico", "/setup", "/account/login", "/.well-known/change-password")


def test_an_answer_does_not_depend_on_them(api: Api) -> None:
    compared = 0
    for path in linked(Shared.made(api)):
        for accept in ACCEPTED:
            plain = api.get(path, headers={"Accept": accept})
            assert plain.status_code < 400 or path == "/setup", (path, plain.text)
            for query in APPENDED:
                answer = api.get(f"{path}?{query}", headers={"Accept": accept})
                assert answer.status_code == plain.status_code, (path, accept, query, answer.text)
                assert answer.headers.get("Content-Type") == plain.headers.get("Content-Type")
                assert answer.headers.get("ETag") == plain.headers.get("ETag")
                compared += 1
    assert compared == 13 * len(ACCEPTED) * len(APPENDED)


@pytest.mark.parametrize("accept", ACCEPTED)
def test_a_page_takes_its_language_whatever_the_client_accepts(api: Api, accept: str) -> None:
    secret = str(Shared.made(api).share().share["url"]).rpartition("/")[2]
    answer = api.get(f"/s/{secret}?lang=zh-Hans", headers={"Accept": accept})
    assert (answer.status_code, 'lang="zh' in answer.text) == (200, True)


def test_each_linked_route_is_without_a_schema_and_public(api: Api) -> None:
    """What is JSON still refuses parameters by name, so that a misspelt filter is no silent error."""
    strict = [
        rule.rule
        for rule in api.app.url_map.iter_rules()
        if isinstance(view := api.app.view_functions[rule.endpoint], Operation)
        and (rule.methods or set()) <= {*SAFE_METHODS}
        and view.description.returns is not None
        and rule.rule != "/"
    ]
    root = api.person(admin=True)
    for path in strict:
        answer = api.get(path.replace("<", "").replace(">", "") + "?fbclid=1", by=root)
        assert answer.status_code in (400, 403, 404), (path, answer.text)
    assert len(strict) >= 40
    public = [path for path in strict if not needs_caller(_view(api, path).access)]
    assert len(public) >= 5
    for path in public:
        answer = api.get(path.replace("<", "").replace(">", "") + "?fbclid=1")
        assert ("fbclid", "unknown-field") in [
            (item["field"], item["code"]) for item in answer.json["error"]["details"]
        ], (path, answer.text)


def _view(api: Api, path: str) -> Operation:
    rule = next(rule for rule in api.app.url_map.iter_rules() if rule.rule == path)
    view = api.app.view_functions[rule.endpoint]
    assert isinstance(view, Operation)
    return view


def pages(town: ConsoleTown) -> Iterator[tuple[str, bool]]:
    """Yield the paths of all pages and public files, and whether a visitor opens them."""
    for rule in town.api.app.url_map.iter_rules():
        view = town.api.app.view_functions[rule.endpoint]
        # The document is JSON, which refuses them.
        is_page = getattr(view, "ignores_unknown", rule.rule != "/openapi.json")
        if is_page and "GET" in (rule.methods or ()):
            yield re.sub(r"<[^>]+>", "x", rule.rule), True
    for rule in routes(town.api):
        if "GET" in (rule.methods or ()) and rule.rule != "/logout":
            yield town.path(rule.rule), False
    app: Any = town.api.app
    mount = next(mount for mount in app.mounts if mount.prefix == LOGIN_PAGES)
    for rule in pages_of(mount.application).url_map.iter_rules():
        if "GET" in (rule.methods or {"GET"}):
            path = LOGIN_PAGES + re.sub(r"<[^>]+>", "x", rule.rule)
            yield from ((path, True), (path, False))


def seen_of(answer: Answer) -> tuple[object, ...]:
    """Return what a client sees of an answer, without what differs between any two."""
    location = answer.headers.get("Location", "")
    kind = answer.headers.get("Content-Type", "")
    text = answer.text if kind.startswith("text/html") else ""
    etag = answer.headers.get("ETag")
    return answer.status_code, kind, location.partition("?")[0], VARYING.sub("", text), etag


@pytest.mark.extended
@pytest.mark.config(CONFIG)
def test_no_page_of_an_application_depends_on_them(api: Api) -> None:
    town = ConsoleTown.built(api, str)
    visitor, owner, root = PageBrowser(api), PageBrowser(api), PageBrowser(api)
    owner.log_in(town.owner.email)
    root.log_in(town.root.email)
    cells, compared, faults = cycle(product(APPENDED, ACCEPTED)), 0, []
    for path, is_visitor in dict.fromkeys(pages(town)):
        browsers = (visitor,) if is_visitor else (owner, root)
        browser = next((one for one in browsers if one.request(path).status_code != 404), browsers[0])
        for query, accept in islice(cells, CELLS):
            plain, seen = (
                seen_of(browser.request(url, Accept=accept)) for url in (path, f"{path}?{query}")
            )
            compared += 1
            if seen != plain:
                faults.append((path, accept, query, seen[:3], plain[:3]))
    sys.stderr.write(f"{compared} answers compared\n")
    assert faults == []
    assert compared > 100 * CELLS
