"""Clients push the parameters of a request before the browser comes (RFC 9126)."""

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from tests.support.api import PASSWORD, Answer, Api, Json, Person
from tests.support.config import lifted, merged
from tests.support.page_browser import PageBrowser
from tests.support.relying_party import PLUGINS, RelyingParty, get_returned, logged_in

PAR = "/oauth2/par"
PREFIX = "urn:ietf:params:oauth:request_uri:"
RACERS = 32

pytestmark = pytest.mark.config(merged(lifted(), {"plugins": {"enabled": PLUGINS}}))


@pytest.fixture
def rp(api: Api) -> RelyingParty:
    return RelyingParty.register(api)


@pytest.fixture
def person(api: Api) -> Person:
    return api.person()


@pytest.fixture
def browser(api: Api, rp: RelyingParty, person: Person) -> PageBrowser:
    return logged_in(api, person)


def push(rp: RelyingParty, **changes: str | None) -> Answer:
    form = dict(parse_qsl(urlsplit(rp.url(**changes)).query))
    return rp.send(PAR, **form)


def pushed(rp: RelyingParty, **changes: str | None) -> str:
    answer = push(rp, **changes)
    assert answer.status_code == 201, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    body: Json = answer.json
    assert body["expires_in"] == 60
    assert body["request_uri"].startswith(PREFIX)
    return f"/oauth2/authorize?{urlencode({'client_id': rp.id, 'request_uri': body['request_uri']})}"


def test_discovery_names_the_endpoint(api: Api, rp: RelyingParty) -> None:
    document = api.get("/.well-known/oauth-authorization-server").json
    assert document["pushed_authorization_request_endpoint"] == f"{document['issuer']}{PAR}"
    assert document["require_pushed_authorization_requests"] is False


@pytest.mark.parametrize("is_public", [True, False], ids=["public", "confidential"])
def test_a_pushed_request_leads_to_tokens(api: Api, browser: PageBrowser, is_public: bool) -> None:
    rp = RelyingParty.register(api, public=is_public)
    browser.open(pushed(rp, state="pushed"))
    returned = get_returned(browser)
    assert returned["state"] == "pushed"
    assert rp.exchange(returned["code"]).status_code == 200


def test_it_survives_the_login(api: Api, rp: RelyingParty, person: Person) -> None:
    browser = PageBrowser(api)
    browser.open(pushed(rp, state="pushed"))
    assert browser.path.startswith("/account/")
    browser.send("login", username=person.email, password=PASSWORD)
    assert get_returned(browser)["state"] == "pushed"


def test_it_is_used_once(rp: RelyingParty, browser: PageBrowser) -> None:
    path = pushed(rp)
    browser.open(path)
    assert "code" in get_returned(browser)
    again = browser.request(path)
    assert again.status_code == 400
    assert "Location" not in again.headers


def test_it_expires_after_60_seconds(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    path = pushed(rp)
    api.clock.advance(60_000)
    assert browser.request(path).status_code == 400


def test_it_is_of_one_client(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    path, other = pushed(rp), RelyingParty.register(api)
    assert browser.request(path.replace(rp.id, other.id)).status_code == 400
    browser.open(path)
    assert "code" in get_returned(browser)


def test_the_browser_changes_nothing_of_it(rp: RelyingParty, browser: PageBrowser) -> None:
    extra = urlencode({"state": "forged", "redirect_uri": "https://evil.test/", "scope": "phone"})
    browser.open(f"{pushed(rp)}&{extra}")
    assert get_returned(browser)["state"] == "the state"
    assert browser.page.headers["Location"].startswith(rp.uri)


def test_the_client_authenticates(rp: RelyingParty) -> None:
    for secret in (None, "wrong"):
        answer = push(RelyingParty(rp.api, rp.id, secret))
        assert (answer.status_code, answer.json["error"]) == (401, "invalid_client")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"redirect_uri": "https://evil.test/"}, "invalid_request"),
        ({"redirect_uri": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"request_uri": f"{PREFIX}x"}, "invalid_request"),
        ({"request": "x"}, "request_not_supported"),
        ({"resource": "https://other.example.com/"}, "invalid_target"),
        ({"state": "x" * 9000}, "invalid_request"),
    ],
)
def test_what_the_browser_may_not_send_is_refused_at_once(
    rp: RelyingParty, changes: dict[str, str | None], error: str
) -> None:
    answer = push(rp, **changes)
    assert (answer.status_code, answer.json["error"]) == (400, error)
    assert "Location" not in answer.headers


def test_other_request_uris_are_refused(rp: RelyingParty, browser: PageBrowser) -> None:
    unknown = urlencode({"client_id": rp.id, "request_uri": f"{PREFIX}unknown"})
    assert browser.request(f"/oauth2/authorize?{unknown}").status_code == 400
    returned = rp.authorize(browser, request_uri="https://wiki.example.com/request")
    assert returned["error"] == "request_uri_not_supported"


@pytest.mark.both_databases
def test_32_uses_at_once_have_one_success(api: Api, rp: RelyingParty, person: Person) -> None:
    path = pushed(rp)
    browsers = [PageBrowser(api) for _ in range(RACERS)]
    with ThreadPoolExecutor(RACERS) as pool:
        answers = list(pool.map(lambda browser: browser.request(path).status_code, browsers))
    assert sorted(answers) == [303] + [400] * (RACERS - 1)
