"""The links in e-mails with invitations, without scripts."""

import re
from urllib.parse import urlsplit

import pytest
from tests.support.api import PASSWORD, Api, Json, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

ADDRESS = "new@example.com"
VOID = "It has expired, was withdrawn, or was already used."
DAY = 86_400_000
CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "factor_totp", "login_pages"]}}
)
HOSTILE = '"><svg onload=alert(1)> {{7*7}}'

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


class Inviting:
    """An administrator who invites to the tenant "Acme"."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.admin = api.person()
        self.path = api.tenant(self.admin, "Acme")

    def invite(self, recipient: str = ADDRESS, **more: str) -> str:
        """Invite an e-mail address; return the path of the link in the e-mail."""
        body = {"email": recipient, **more}
        created = self.api.post(f"{self.path}/invitations", body, by=self.admin)
        assert created.status_code == 201
        return link_in(self.api.outbox()[-1])

    def open(self) -> list[Json]:
        listed: list[Json] = self.api.get(f"{self.path}/invitations", by=self.admin).json["data"]
        return listed

    def roles(self) -> list[str]:
        """Return the roles of the members but the administrator."""
        listed = self.api.get(f"{self.path}/members", by=self.admin).json["data"]
        return [item["role"] for item in listed if item["user"]["$ref"] != self.admin.id]


def link_in(message: Json) -> str:
    (url,) = re.findall(r"https?://\S+", message["text"])
    assert url.startswith("https://files.example.com/account/invitations/")
    return str(urlsplit(url).path)


def action_of(link: str) -> str:
    return link.removeprefix("/account/")


@pytest.fixture
def inviting(api: Api) -> Inviting:
    return Inviting(api)


@pytest.fixture
def browser(api: Api) -> PageBrowser:
    return PageBrowser(api)


def register(api: Api, browser: PageBrowser, link: str) -> None:
    browser.open(link)
    browser.send(action_of(link), way="register")
    before = len(api.outbox())
    assert "captcha" not in browser.page.text.lower()
    browser.send("register", name="New", username="other@example.com", newPassword=PASSWORD)
    assert len(api.outbox()) == before


class TestMessage:
    def test_the_e_mail_has_the_link_in_place_of_the_code(self, api: Api, inviting: Inviting) -> None:
        secret = inviting.invite().rpartition("/")[2]
        assert api.outbox()[-1]["text"].count(secret) == 1

    def test_another_message_has_another_link(self, api: Api, inviting: Inviting) -> None:
        first = inviting.invite()
        one = f"{inviting.path}/invitations/{inviting.open()[0]['id']}"
        assert api.post(f"{one}/resend", by=inviting.admin).status_code == 200
        assert link_in(api.outbox()[-1]) != first

    @pytest.mark.config(CONFIG, {"plugins": {"enabled": ["storage_local"]}})
    def test_without_pages_it_has_the_code_only(self, api: Api, inviting: Inviting) -> None:
        api.post(f"{inviting.path}/invitations", {"email": ADDRESS}, by=inviting.admin)
        message = api.outbox()[-1]
        assert message["code"] in message["text"]
        assert "://" not in message["text"]


class TestPage:
    def test_it_names_tenant_inviter_contact_and_role(
        self, api: Api, inviting: Inviting, browser: PageBrowser
    ) -> None:
        link = inviting.invite(role="member")
        text = browser.open(link).text
        assert "Invitation to Acme" in text
        name = api.get("/users/me", by=inviting.admin).json["name"]
        assert f"From: {name}" in text
        assert "To: n•••@example.com" in text
        assert ADDRESS not in text
        assert "member" in text
        headers = browser.page.headers
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "no-store" in headers["Cache-Control"]

    def test_opening_it_changes_nothing(
        self, api: Api, inviting: Inviting, browser: PageBrowser
    ) -> None:
        link, user = inviting.invite(ADDRESS), api.person(email="x@example.com")
        before = inviting.open()
        browser.head(link)
        browser.open(link)
        browser.log_in(user.email)
        browser.open(link)
        assert (inviting.open(), inviting.roles()) == (before, [])

    def test_an_inviter_without_a_name_has_no_empty_line(self, api: Api, browser: PageBrowser) -> None:
        inviting = Inviting(api)
        inviting.admin = api.person(name="")
        inviting.path = api.tenant(inviting.admin, "Acme")
        page = browser.open(inviting.invite()).text
        assert "Acme" in page
        assert "From:" not in page

    def test_names_are_texts(self, api: Api, browser: PageBrowser) -> None:
        inviting = Inviting(api)
        api.patch(inviting.path, {"name": HOSTILE}, by=inviting.admin)
        text = browser.open(inviting.invite()).text
        assert "<svg" not in text
        assert "{{7*7}}" in text

    def test_expired_revoked_used_and_unknown_ones_have_one_page(self, api: Api) -> None:
        pages = set()

        def note(link: str) -> None:
            browser = PageBrowser(api)
            page = browser.open(link)
            assert (page.status_code, VOID in browser.page.text) == (404, True)
            pages.add(re.sub(r'(value|nonce)="[\w.-]{20,}"|<code>\w{32}</code>', "", page.text))

        inviting = Inviting(api)
        note("/account/invitations/unknown")
        note(f"/account/invitations/{'x' * 500}")
        revoked = inviting.invite("revoked@example.com")
        path = f"{inviting.path}/invitations/{inviting.open()[0]['id']}"
        assert api.delete(path, by=inviting.admin).status_code == 200
        note(revoked)
        used = inviting.invite("used@example.com")
        body = {"secret": used.rpartition("/")[2]}
        answer = api.post("/api/v1/invitation-acceptances", body, by=api.person())
        assert answer.status_code == 200
        note(used)
        expired = inviting.invite("expired@example.com")
        api.clock.advance(7 * DAY)
        note(expired)
        assert len(pages) == 1

    def test_a_form_of_another_site_begins_nothing(
        self, inviting: Inviting, browser: PageBrowser
    ) -> None:
        link = inviting.invite()
        assert browser.request(link, {"way": "login"}).status_code == 400


class TestUser:
    @pytest.fixture
    def user(self, api: Api) -> Person:
        return api.person(email=ADDRESS)

    def test_the_login_leads_back_and_the_user_accepts(
        self, inviting: Inviting, browser: PageBrowser, user: Person
    ) -> None:
        link = inviting.invite()
        browser.open(link)
        browser.send(action_of(link), way="login")
        assert browser.path == "/account/login"
        browser.send("login", username=user.email, password=PASSWORD)
        assert (browser.path, inviting.roles()) == (link, [])
        (action,) = [path for path in browser.forms if path.endswith("/acceptance")]
        browser.send(action.removeprefix("/account/"))
        assert (browser.message, inviting.roles()) == ("You have joined.", ["member"])

    def test_the_user_declines(self, inviting: Inviting, browser: PageBrowser, user: Person) -> None:
        link = inviting.invite()
        browser.log_in(user.email)
        (removal,) = re.findall(r'href="([^"]+/removal)"', browser.open(link).text)
        browser.open(removal)
        browser.open(removal, {"csrf": re.findall(r'name="csrf" value="([^"]+)"', browser.page.text)[0]})
        assert browser.message == "The invitation was declined."
        assert (inviting.open(), inviting.roles()) == ([], [])

    def test_another_user_gets_no_answer_but_another_login(
        self, api: Api, inviting: Inviting, browser: PageBrowser, user: Person
    ) -> None:
        link, other = inviting.invite(), api.person()
        browser.log_in(other.email)
        browser.open(link)
        assert browser.message.startswith("You are logged in as ")
        assert list(browser.forms) == [link]
        one = inviting.open()[0]["id"]
        received = f"/account/invitations/received/{one}/acceptance"
        assert browser.request(received, browser.forms[link]).status_code == 404
        browser.open(link)
        browser.send(action_of(link), way="login")
        assert (browser.path, browser.is_logged_in) == ("/account/login", False)
        browser.open("/account/login")
        browser.send("login", username=user.email, password=PASSWORD)
        assert browser.path == link
        assert inviting.roles() == []


class TestRegistration:
    def test_the_invited_address_registers_and_is_a_member(
        self, api: Api, inviting: Inviting, browser: PageBrowser
    ) -> None:
        register(api, browser, inviting.invite())
        assert api.log_in(ADDRESS).status_code == 200
        assert (browser.path, browser.message) == ("/account/invitations", "You have joined.")
        assert (inviting.roles(), inviting.open()) == (["member"], [])

    @pytest.mark.config(CONFIG, {"users": {"registration": "invited"}})
    def test_so_it_does_where_only_invited_users_register(
        self, api: Api, inviting: Inviting, browser: PageBrowser
    ) -> None:
        assert browser.open("/account/register").status_code == 404
        register(api, browser, inviting.invite())
        assert (browser.path, inviting.roles()) == ("/account/invitations", ["member"])

    def test_the_address_is_filled_in_and_fixed(self, inviting: Inviting, browser: PageBrowser) -> None:
        link = inviting.invite()
        browser.open(link)
        browser.send(action_of(link), way="register")
        assert f'value="{ADDRESS}"' in browser.page.text
        assert " readonly" in browser.page.text
        browser.send("register", name="New", username="other@example.com", newPassword="weak")
        assert browser.page.status_code == 400
        assert browser.message.startswith("Choose another password")
        assert f'value="{ADDRESS}"' in browser.page.text
        assert link.rpartition("/")[2] not in browser.page.text

    def test_an_invitation_that_ends_meanwhile_makes_no_account(
        self, api: Api, inviting: Inviting, browser: PageBrowser
    ) -> None:
        link = inviting.invite()
        browser.open(link)
        browser.send(action_of(link), way="register")
        path = f"{inviting.path}/invitations/{inviting.open()[0]['id']}"
        api.delete(path, by=inviting.admin)
        browser.send("register", name="New", newPassword=PASSWORD)
        assert (browser.path, VOID in browser.page.text) == (link, True)
        assert not browser.is_logged_in

    def test_an_address_with_an_account_makes_no_other(
        self, api: Api, inviting: Inviting, browser: PageBrowser
    ) -> None:
        api.person(email=ADDRESS)
        register(api, browser, inviting.invite())
        assert (browser.page.status_code, browser.is_logged_in) == (400, False)

    def test_another_way_drops_the_invitation(self, inviting: Inviting, browser: PageBrowser) -> None:
        link = inviting.invite()
        browser.open(link)
        browser.send(action_of(link), way="register")
        browser.log_in("absent@example.com")
        assert " readonly" not in browser.open("/account/register").text

    @pytest.mark.config(CONFIG, {"users": {"registration": "closed"}})
    def test_closed_registration_offers_the_login_only(self, api: Api, browser: PageBrowser) -> None:
        link = Inviting(api).invite()
        assert 'value="register"' not in browser.open(link).text
        browser.send(action_of(link), way="register")
        assert browser.path == "/account/login"
