"""Parameters that trackers, messengers and cache busters append to links change no answer."""

from collections.abc import Iterator

import pytest
from tests.support.api import Api
from tests.support.config import lifted
from tests.support.databases import on_sqlite
from tests.support.shares import ALL_KINDS, PLUGINS, PNG, Shared

from strongroom.web.http.access import SAFE_METHODS
from strongroom.web.http.routing import Operation, needs_caller

pytestmark = [
    on_sqlite,
    pytest.mark.config(
        {
            "plugins": {"enabled": [*PLUGINS, "login_pages"], "share_links": {"kinds": ALL_KINDS}},
        },
        lifted(),
    ),
]

APPENDED = (
    "fbclid=IwAR0x",
    "gclid=Cj0",
    "gbraid=0A",
    "wbraid=Cg",
    "msclkid=9f",
    "yclid=1",
    "twclid=2",
    "ttclid=E",
    "igshid=x==",
    "mc_cid=1&mc_eid=2",
    "_hsenc=p2&_hsmi=3",
    "utm_source=a&utm_medium=b&utm_campaign=c%20d",
    "mkt_tok=NDI",
    "vero_id=%E4%BD%A0",
    "from=singlemessage&isappinstalled=0&scene=1",
    "nsukey=Q%2B1",
    "spm=a2c4g.1",
    "_=1764288000000",
    "cachebuster",
    "=&&;v=2",
)
ACCEPTED = ("text/html", "*/*", "application/json", "image/avif,image/webp,*/*;q=0.8")


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
