"""Devices log in by a code that their users enter elsewhere (RFC 8628)."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.api import Answer, Api, Json, Person
from tests.support.config import lifted, merged
from tests.support.page_browser import PageBrowser
from tests.support.relying_party import PLUGINS, RelyingParty, logged_in

from strongroom_oidc_provider.clients.states import ClientStates

GRANT = "urn:ietf:params:oauth:grant-type:device_code"
PAGE = "/device"
RACERS = 32

pytestmark = pytest.mark.config(merged(lifted(), {"plugins": {"enabled": PLUGINS}}))


@pytest.fixture
def rp(api: Api) -> RelyingParty:
    return RelyingParty.register(api, public=True, name="TV", redirectUris=[], deviceLogin=True)


@pytest.fixture
def person(api: Api) -> Person:
    return api.person(name="Ada Lovelace")


@pytest.fixture
def browser(api: Api, rp: RelyingParty, person: Person) -> PageBrowser:
    return logged_in(api, person)


def begin(rp: RelyingParty, **form: str) -> Json:
    answer = rp.send("/oauth2/device-authorization", **{"scope": "openid", **form})
    assert answer.status_code == 200, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    codes: Json = answer.json
    return codes


def poll(rp: RelyingParty, codes: Json) -> Answer:
    return rp.send("/oauth2/token", grant_type=GRANT, device_code=codes["device_code"])


def error(answer: Answer) -> str:
    assert answer.status_code == 400, answer.text
    code: str = answer.json["error"]
    return code


def enter(browser: PageBrowser, code: str) -> None:
    browser.open(PAGE)
    browser.submit(PAGE, user_code=code)


def decide(browser: PageBrowser, codes: Json, decision: str = "allow") -> None:
    enter(browser, codes["user_code"])
    assert browser.page.status_code == 200, browser.page.text
    browser.submit(PAGE, decision=decision)


def test_a_user_lets_a_device_log_in(
    api: Api, rp: RelyingParty, browser: PageBrowser, person: Person
) -> None:
    codes = begin(rp)
    assert (codes["expires_in"], codes["interval"]) == (600, 5)
    assert codes["verification_uri"].endswith(PAGE)
    assert codes["verification_uri_complete"].endswith(f"{PAGE}?user_code={codes['user_code']}")
    assert set(codes["user_code"].replace("-", "")) <= set("BCDFGHJKLMNPQRSTVWXZ")
    assert len(codes["user_code"]) == 9
    assert error(poll(rp, codes)) == "authorization_pending"
    enter(browser, codes["user_code"])
    for text in ("TV", "127.0.0.1", "Ada Lovelace", "only if you have just begun it yourself"):
        assert text in browser.page.text
    browser.submit(PAGE, decision="allow")
    assert "The device is logged in" in browser.page.text
    tokens = poll(rp, codes).json
    assert rp.claims(tokens)["sub"] == person.id
    assert rp.user_info(tokens["access_token"]).json["sub"] == person.id
    assert error(poll(rp, codes)) == "invalid_grant"
    (consent,) = api.get("/api/v1/users/me/consents", by=person).json["data"]
    assert consent["clientId"] == rp.id
    record = api.get("/audit-events?action=oidc_provider.device-allow", by=api.person(admin=True))
    assert record.json["data"][0]["actor"]["$ref"] == person.id


def test_a_link_fills_the_code_in_and_decides_nothing(rp: RelyingParty, browser: PageBrowser) -> None:
    codes = begin(rp)
    page = browser.open(f"{PAGE}?user_code={codes['user_code']}")
    assert f'value="{codes["user_code"]}"' in page.text
    assert 'name="decision"' not in page.text
    assert error(poll(rp, codes)) == "authorization_pending"


def test_the_page_of_a_device_has_the_brand_of_the_client(
    rp: RelyingParty, browser: PageBrowser
) -> None:
    codes = begin(rp)
    assert "app-mark" not in browser.open(PAGE).text
    enter(browser, codes["user_code"])
    assert '<p class="app-mark">' in browser.page.text


def test_the_code_is_read_without_case_and_hyphens(rp: RelyingParty, browser: PageBrowser) -> None:
    code = begin(rp)["user_code"]
    for form in (code.lower(), code.replace("-", ""), f" {code.replace('-', ' ')} "):
        enter(browser, form)
        assert "on a device?" in browser.page.text


def test_the_page_needs_a_login(api: Api, rp: RelyingParty) -> None:
    codes, browser = begin(rp), PageBrowser(api)
    browser.open(f"{PAGE}?user_code={codes['user_code']}")
    assert browser.path.startswith("/account/")
    assert error(poll(rp, codes)) == "authorization_pending"


def test_a_refused_device_gets_nothing(rp: RelyingParty, browser: PageBrowser) -> None:
    codes = begin(rp)
    decide(browser, codes, "refuse")
    assert "The device is refused" in browser.page.text
    assert error(poll(rp, codes)) == "access_denied"


def test_a_device_that_polls_too_fast_slows_down(
    api: Api, rp: RelyingParty, browser: PageBrowser
) -> None:
    codes = begin(rp)
    assert error(poll(rp, codes)) == "authorization_pending"
    api.clock.advance(4000)
    assert error(poll(rp, codes)) == "slow_down"
    api.clock.advance(6000)
    assert error(poll(rp, codes)) == "slow_down"
    api.clock.advance(15_000)
    assert error(poll(rp, codes)) == "authorization_pending"


def test_both_codes_expire(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    codes, allowed = begin(rp), begin(rp)
    decide(browser, allowed)
    api.clock.advance(600_000)
    later = logged_in(api)
    enter(later, codes["user_code"])
    assert "No device waits with this code" in later.page.text
    assert error(poll(rp, codes)) == error(poll(rp, allowed)) == "expired_token"


def test_wrong_codes_are_limited(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    codes = begin(rp)
    for _ in range(5):
        enter(browser, "BBBB-BBBB")
        assert browser.page.status_code == 400
    enter(browser, codes["user_code"])
    assert browser.page.status_code == 429
    neighbour = logged_in(api)
    enter(neighbour, codes["user_code"])
    assert neighbour.page.status_code == 429
    api.clock.advance(61_000)
    enter(browser, codes["user_code"])
    assert "on a device?" in browser.page.text


def test_the_code_is_of_one_client(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    codes = begin(rp)
    decide(browser, codes)
    other = RelyingParty.register(api, public=True, redirectUris=[], deviceLogin=True)
    assert error(poll(other, codes)) == "invalid_grant"
    assert poll(rp, codes).status_code == 200


def test_only_clients_of_devices_get_codes(api: Api) -> None:
    rp = RelyingParty.register(api)
    answer = rp.send("/oauth2/device-authorization", scope="openid")
    assert error(answer) == "unauthorized_client"
    assert error(poll(rp, {"device_code": "x"})) == "unauthorized_client"


def test_another_site_cannot_decide(rp: RelyingParty, browser: PageBrowser) -> None:
    codes = begin(rp)
    enter(browser, codes["user_code"])
    form = {"request": browser.forms[PAGE]["request"], "decision": "allow"}
    assert browser.request(PAGE, form, Sec_Fetch_Site="cross-site").status_code == 400
    assert error(poll(rp, codes)) == "authorization_pending"


def test_the_page_of_one_user_decides_nothing_for_another(
    api: Api, rp: RelyingParty, browser: PageBrowser
) -> None:
    codes, other = begin(rp), logged_in(api)
    enter(browser, codes["user_code"])
    sealed = browser.forms[PAGE]["request"]
    other.open(PAGE)
    other.submit(PAGE, request=sealed, decision="allow")
    assert other.page.status_code == 400
    assert error(poll(rp, codes)) == "authorization_pending"


def test_a_decision_is_final(rp: RelyingParty, browser: PageBrowser) -> None:
    codes = begin(rp)
    enter(browser, codes["user_code"])
    form = browser.forms[PAGE]
    browser.open(PAGE, {**form, "decision": "refuse"})
    assert browser.open(PAGE, {**form, "decision": "allow"}).status_code == 400
    assert error(poll(rp, codes)) == "access_denied"


def test_a_logout_ends_what_is_not_used_yet(rp: RelyingParty, browser: PageBrowser) -> None:
    codes = begin(rp)
    decide(browser, codes)
    browser.open("/oauth2/end-session")
    browser.submit("/oauth2/logout")
    assert error(poll(rp, codes)) == "invalid_grant"


def test_a_suspension_ends_what_is_not_used_yet(
    api: Api, rp: RelyingParty, browser: PageBrowser, person: Person
) -> None:
    codes, root = begin(rp), api.person(admin=True)
    decide(browser, codes)
    assert api.post(f"/users/{person.id}/suspension", by=root).status_code == 200
    assert api.delete(f"/users/{person.id}/suspension", by=root).status_code == 200
    assert error(poll(rp, codes)) == "invalid_grant"


@pytest.mark.both_databases
def test_32_uses_of_a_device_code_at_once_have_one_success(
    rp: RelyingParty, browser: PageBrowser
) -> None:
    codes = begin(rp)
    decide(browser, codes)
    with ThreadPoolExecutor(RACERS) as pool:
        answers = list(pool.map(lambda _: poll(rp, codes), range(RACERS)))
    (won,) = [answer for answer in answers if answer.status_code == 200]
    assert {error(answer) for answer in answers if answer is not won} == {"invalid_grant"}


def test_a_device_cannot_request_a_folder(rp: RelyingParty) -> None:
    form = {"scope": "openid", "authorization_details": "[]"}
    assert error(rp.send("/oauth2/device-authorization", **form)) == "invalid_request"


def test_a_disabled_client_loses_the_codes_of_its_devices(
    api: Api, rp: RelyingParty, browser: PageBrowser
) -> None:
    codes = begin(rp)
    decide(browser, codes)
    states = api.container.hosts.get("oidc_provider").get_service(ClientStates)
    states.disable(rp.id)
    states.enable(rp.id)
    assert error(poll(rp, codes)) == "invalid_grant"
