"""Links in e-mails with login codes: one challenge with the code, for the browser that requested it."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.support.api import Answer, Api, Json, Person, error_code
from tests.support.config import Table
from tests.support.page_browser import PageBrowser

ADDRESS = "alice@example.com"
CONFIG: Table = {
    "plugins": {"enabled": ["storage_local", "login_email", "login_sms", "login_pages"]},
    "login": {"methods": ["password", "email_code", "sms"]},
}

pytestmark = pytest.mark.config(CONFIG)


@pytest.fixture
def alice(api: Api) -> Person:
    return api.person(email=ADDRESS)


def request_link(api: Api, recipient: str = ADDRESS, device: str = "laptop", **body: Any) -> Answer:
    """Request a login code with a link."""
    sent = {"recipient": recipient, "purpose": "login", "captcha": api.captcha(), "link": True, **body}
    return api.post("/verification-codes", sent, headers={"X-Device-Id": device})


def link_in(message: Json) -> str:
    """Return the path of the link in a message."""
    urls = re.findall(r"https?://\S+", message["text"])
    assert len(urls) == 1, message["text"]
    assert urls[0].startswith("https://files.example.com/account/l/")
    return str(urlsplit(urls[0]).path)


def proof_of(link: str) -> Json:
    """Return the member ``verificationCode`` with the secret of a link."""
    code_id, _, secret = link.rpartition("/")[2].partition(".")
    return {"id": code_id, "code": secret}


def use(api: Api, proof: Json, device: str = "laptop") -> Answer:
    """Log in by a code, or by the secret of a link."""
    body = {"username": ADDRESS, "verificationCode": proof}
    return api.post("/authorizations", body, headers={"X-Device-Id": device})


def newest(api: Api) -> tuple[Json, Json]:
    """Return the proofs by the code and by the link of the last message."""
    message = api.outbox()[-1]
    by_link = proof_of(link_in(message))
    return {"id": by_link["id"], "code": message["code"]}, by_link


def test_the_message_has_the_code_first_and_a_link_second(api: Api, alice: Person) -> None:
    response = request_link(api)
    assert response.status_code == 201
    text = api.outbox()[-1]["text"]
    code, link = text.index(api.outbox()[-1]["code"]), text.index("https://")
    assert code < link
    path = link_in(api.outbox()[-1])
    assert path.startswith(f"/account/l/{response.json['id']}.")
    assert len(path) < 100


def test_only_a_login_by_email_has_a_link(api: Api, alice: Person) -> None:
    request_link(api, "13800138000", "a")
    request_link(api, ADDRESS, "b", purpose="bind")
    api.clock.advance(60_000)
    request_link(api, ADDRESS, "c", link=False)
    assert ["http" in message["text"] for message in api.outbox()] == [False] * 3


def test_a_link_logs_in_the_device_that_requested_it(api: Api, alice: Person) -> None:
    request_link(api)
    _, by_link = newest(api)
    assert use(api, by_link).json["user"]["id"] == alice.id


def test_a_link_counts_on_no_other_device(api: Api, alice: Person) -> None:
    request_link(api)
    _, by_link = newest(api)
    response = use(api, by_link, device="other")
    assert (response.status_code, error_code(response)) == (401, "error.invalid-credentials")
    assert use(api, by_link).status_code == 200


@pytest.mark.parametrize("first", [0, 1])
def test_the_code_and_its_link_log_in_once_together(api: Api, alice: Person, first: int) -> None:
    request_link(api)
    proofs = newest(api)
    statuses = [use(api, proofs[index]).status_code for index in (first, 1 - first, first)]
    assert statuses == [200, 401, 401]


def test_a_link_ends_with_its_code(api: Api, alice: Person) -> None:
    request_link(api)
    _, by_link = newest(api)
    api.clock.advance(5 * 60_000)
    assert use(api, by_link).status_code == 401


def test_a_new_code_makes_the_former_link_invalid(api: Api, alice: Person) -> None:
    request_link(api)
    _, former = newest(api)
    api.clock.advance(60_000)
    request_link(api)
    _, by_link = newest(api)
    assert [use(api, proof).status_code for proof in (former, by_link)] == [401, 200]


def test_five_wrong_codes_end_the_link_as_well(api: Api, alice: Person) -> None:
    request_link(api)
    by_code, by_link = newest(api)
    wrong = {**by_code, "code": f"{(int(by_code['code']) + 1) % 10**6:06}"}
    assert [use(api, wrong).status_code for _ in range(5)] == [401] * 5
    assert use(api, by_link).status_code == 429


def test_a_link_is_no_code_of_another_purpose(api: Api, alice: Person) -> None:
    request_link(api)
    _, by_link = newest(api)
    body = {"verificationCode": by_link, "newPassword": "Another2Battery"}
    response = api.post(f"/users/{ADDRESS}/reset-password", body, headers={"X-Device-Id": "laptop"})
    assert error_code(response) == "error.code-invalid"


def test_of_many_uses_at_once_one_logs_in(api: Api, alice: Person) -> None:
    request_link(api)
    proofs = newest(api) * 16
    with ThreadPoolExecutor(len(proofs)) as pool:
        statuses = list(pool.map(lambda proof: use(api, proof).status_code, proofs))
    assert len(statuses) == 32
    assert statuses.count(200) == 1


@pytest.mark.parametrize("header", ["Host", "X-Forwarded-Host"])
def test_no_client_chooses_where_a_link_leads(api: Api, alice: Person, header: str) -> None:
    body = {"recipient": ADDRESS, "purpose": "login", "captcha": api.captcha(), "link": True}
    api.post("/verification-codes", body, headers={header: "evil.example.net"})
    assert "evil" not in api.outbox()[-1]["text"]
    assert link_in(api.outbox()[-1])


@pytest.mark.parametrize("link", ["https://evil.example.net/", "/evil", 2])
def test_a_client_asks_for_a_link_and_names_none(api: Api, alice: Person, link: object) -> None:
    assert error_code(request_link(api, link=link)) == "error.validation-failed"


@pytest.mark.config({**CONFIG, "plugins": {"enabled": ["storage_local", "login_email", "login_sms"]}})
def test_without_a_page_for_links_there_is_only_the_code(api: Api, alice: Person) -> None:
    assert request_link(api).status_code == 201
    assert "http" not in api.outbox()[-1]["text"]


def test_the_messages_to_known_and_unknown_addresses_are_equal(api: Api, alice: Person) -> None:
    texts = []
    for address in (ADDRESS, "other@example.com"):
        request_link(api, address, device=address)
        message = api.outbox()[-1]
        text = message["text"].replace(message["code"], "CODE")
        texts.append(re.sub(r"/l/\S+", "/l/LINK", text))
    assert texts[0] == texts[1]


class TestPage:
    """The page that a link leads to."""

    @pytest.fixture
    def browser(self, api: Api, alice: Person) -> PageBrowser:
        """The browser in which a login code was requested."""
        browser = PageBrowser(api)
        browser.request_code(ADDRESS)
        assert browser.path == "/account/login/code/entry"
        return browser

    @pytest.fixture
    def link(self, api: Api, browser: PageBrowser) -> str:
        return link_in(api.outbox()[-1])

    def press(self, browser: PageBrowser, link: str) -> Answer:
        browser.open(link)
        return browser.send(link.removeprefix("/account/"))

    def test_the_button_logs_in(self, browser: PageBrowser, link: str) -> None:
        page = browser.open(link)
        assert "a•••@example.com" in page.text
        assert ADDRESS not in page.text
        self.press(browser, link)
        assert (browser.path, browser.is_logged_in) == ("/account/", True)

    @pytest.mark.parametrize("spelling", ["alice\uff20example.com", " ALICE@example.com "])
    def test_the_account_is_masked_in_any_spelling(self, api: Api, alice: Person, spelling: str) -> None:
        browser = PageBrowser(api)
        browser.request_code(spelling)
        page = browser.open(link_in(api.outbox()[-1]))
        assert re.search(r"[aA]•••@example\.com", page.text)
        assert "lice" not in page.text.lower()

    def test_programs_that_open_a_link_do_not_log_in(
        self, api: Api, browser: PageBrowser, link: str
    ) -> None:
        scanner = PageBrowser(api)
        for opener in (scanner, browser) * 3:
            assert opener.head(link).status_code == 200
            assert opener.open(link).status_code == 200
            assert not opener.is_logged_in
        self.press(browser, link)
        assert browser.is_logged_in

    def test_another_browser_gets_no_button(self, api: Api, browser: PageBrowser, link: str) -> None:
        other = PageBrowser(api)
        page = other.open(link)
        assert "Enter the code in the first browser" in page.text
        assert other.forms == {}
        assert "example.com" not in page.text.partition("<main")[2]

    def test_another_browser_cannot_send_the_form(
        self, api: Api, browser: PageBrowser, link: str
    ) -> None:
        other = PageBrowser(api)
        other.open("/account/login")
        secret = other.forms["/account/login"]["csrf"]
        assert other.open(link, {"csrf": secret}).status_code == 400
        assert not other.is_logged_in
        self.press(browser, link)
        assert browser.is_logged_in

    def test_a_browser_with_a_code_of_its_own_cannot_use_the_link_of_another(
        self, api: Api, browser: PageBrowser, link: str
    ) -> None:
        api.clock.advance(60_000)
        other = PageBrowser(api)
        other.request_code("mallory@example.com")
        assert "<form" not in other.open(link).text
        other.open("/account/login")
        secret = other.forms["/account/login"]["csrf"]
        assert other.open(link, {"csrf": secret}).status_code == 400
        assert not other.is_logged_in

    def test_a_form_of_another_site_is_refused(self, browser: PageBrowser, link: str) -> None:
        for secret in ("", "forged"):
            assert browser.open(link, {"csrf": secret}).status_code == 400
        assert not browser.is_logged_in

    def test_a_user_who_takes_another_way_leaves_the_link_behind(
        self, browser: PageBrowser, link: str
    ) -> None:
        browser.open("/account/login/code/entry")
        browser.send("another-way")
        assert "<form" not in browser.open(link).text

    def test_the_url_stays_with_the_browser(self, browser: PageBrowser, link: str) -> None:
        headers = browser.open(link).headers
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        # Those of all pages, which note the zone and place menus.
        assert re.findall(r"<script[^>]*/(\w+)\.js", browser.page.text) == ["zone", "parts"]
        assert browser.page.text.count("<script") == 3
        assert browser.page.text.count('<script type="importmap" nonce="') == 1

    def test_an_expired_link_says_so(self, api: Api, browser: PageBrowser, link: str) -> None:
        api.clock.advance(5 * 60_000)
        page = self.press(browser, link)
        assert page.status_code == 400
        assert browser.message == "This link has expired or was already used. Request a new code."

    @pytest.mark.parametrize("link", ["x", "x.y", ".", "0" * 500, "<svg onload=alert(1)>"])
    def test_an_invented_link_is_like_one_of_another_browser(
        self, browser: PageBrowser, link: str
    ) -> None:
        page = browser.open(f"/account/l/{link}")
        assert (page.status_code, "<form" in page.text) == (200, False)
        assert "<svg" not in page.text
