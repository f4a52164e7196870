"""Contract tests for pages with a session, and for logins that begin at a button of the login page."""

import re
from collections.abc import Callable, Sequence
from html import unescape
from http import HTTPStatus

import pytest

from strongroom.testing.browser import Browser
from strongroom.testing.server import LiveServer, LiveUser

Approve = Callable[[str], str]
"""Lets the identity provider confirm a login: from the URL of its page to the path of the callback."""

_REDIRECTS = range(300, 400)
_CLIENT_ERRORS = range(400, 500)
_UNAUTHORIZED = 401
_SECRETS = re.compile('(nonce|value)="[A-Za-z0-9+/_=-]{20,}"')
"""What differs in each response with the same page."""


class PasswordPagesContract:
    """The contract of pages on which users set a password by a link. Provide the fixture ``path``.

    The module of the test class has a fixture ``server`` with the scope ``module``: a
    :class:`~strongroom.testing.server.LiveServer` with the plugin.
    """

    @pytest.fixture
    def path(self) -> str:
        """The path of the page, to which the token is appended."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def token(self, server: LiveServer, path: str) -> str:
        """The token of a new link, whose URL an administrator has asked for."""
        admin, user = server.user(admin=True), server.user()
        body = {"kind": "reset", "send": False}
        link = server.succeed("POST", f"/users/{user.id}/links", by=admin, json_body=body)["url"]
        assert path in link
        return str(link).rpartition("/")[2]

    def test_opening_it_changes_nothing(self, server: LiveServer, path: str, token: str) -> None:
        for method in ("HEAD", "GET", "GET"):
            assert server.request(method, path + token).status == HTTPStatus.OK
        body = {"token": token, "newPassword": "Contract1Password"}
        server.succeed("POST", "/users/password-links", json_body=body)

    def test_it_keeps_the_token_to_itself(self, server: LiveServer, path: str, token: str) -> None:
        headers = server.request("GET", path + token).headers
        assert headers["referrer-policy"] == "no-referrer"
        assert "no-store" in headers["cache-control"]


Begin = Callable[[Browser, str], None]
"""Requests a login code for an e-mail address on the pages of a browser."""


class CodePagesContract:
    """The contract of the page of links in e-mails with login codes. Provide ``path`` and ``begin``.

    The module of the test class has a fixture ``server`` with the scope ``module``: a
    :class:`~strongroom.testing.server.LiveServer` with the plugin and a login method for e-mail codes.
    """

    @pytest.fixture
    def path(self) -> str:
        """The path of the page, to which the id and the secret are appended."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def begin(self) -> Begin:
        """A function that requests a code in a browser."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def browser(self, server: LiveServer) -> Browser:
        return Browser(server)

    @pytest.fixture
    def link(self, server: LiveServer, browser: Browser, begin: Begin, path: str) -> str:
        """The path of a link that the browser has requested."""
        begin(browser, server.user().email)
        (url,) = re.findall(r"https?://\S+", server.messages()[-1]["text"])
        assert path in url
        return f"{path}{url.rpartition('/')[2]}"

    def test_the_form_of_the_page_logs_in(self, browser: Browser, link: str) -> None:
        browser.open(link)
        browser.submit(link)
        assert "strongroom-session" in browser.cookies
        assert (browser.open("/account/").status, browser.path) == (200, "/account/")

    def test_opening_it_changes_nothing(self, server: LiveServer, browser: Browser, link: str) -> None:
        other = Browser(server)
        for opener in (other, browser):
            assert server.request("HEAD", link).status == HTTPStatus.OK
            assert opener.open(link).status == HTTPStatus.OK
            opener.open("/account/")
            assert opener.path == "/account/login"
        browser.open(link)
        browser.submit(link)
        assert (browser.open("/account/").status, browser.path) == (200, "/account/")

    def test_another_browser_gets_no_form_and_cannot_send_it(
        self, server: LiveServer, link: str
    ) -> None:
        other = Browser(server)
        other.open("/account/login")
        secret = next(fields["csrf"] for fields in other.forms.values())
        other.open(link)
        assert link not in other.forms
        assert other.request(link, {"csrf": secret}).status in _CLIENT_ERRORS
        other.open("/account/")
        assert other.path == "/account/login"

    def test_a_link_logs_in_once(self, server: LiveServer, browser: Browser, link: str) -> None:
        browser.open(link)
        fields = browser.forms[link]
        cookies = dict(browser.cookies)
        browser.open(link, fields)
        again = Browser(server)
        again.cookies = cookies
        assert again.request(link, fields).status in _CLIENT_ERRORS

    def test_it_keeps_the_secret_to_itself(self, browser: Browser, link: str) -> None:
        headers = browser.open(link).headers
        assert headers["referrer-policy"] == "no-referrer"
        assert "no-store" in headers["cache-control"]


class InvitationPagesContract:
    """The contract of the page of links in e-mails with invitations. Provide the fixture ``path``.

    The module of the test class has a fixture ``server`` with the scope ``module``: a
    :class:`~strongroom.testing.server.LiveServer` with the plugin.
    """

    @pytest.fixture
    def path(self) -> str:
        """The path of the page, to which the secret is appended."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def recipient(self, server: LiveServer) -> LiveUser:
        """The user who is invited."""
        return server.user()

    @pytest.fixture
    def secret(self, server: LiveServer, recipient: LiveUser, path: str) -> str:
        """The secret of a new invitation, whose e-mail has a link to the page."""
        admin = server.user()
        invitations = f"/api/v1/tenants/{server.tenant(admin, 'Contract')}/invitations"
        server.succeed("POST", invitations, by=admin, json_body={"email": recipient.email})
        (url,) = re.findall(r"https?://\S+", server.messages()[-1]["text"])
        assert path in url
        return str(url.rpartition("/")[2])

    def test_opening_it_changes_nothing(
        self, server: LiveServer, path: str, secret: str, recipient: LiveUser
    ) -> None:
        browser = Browser(server)
        for _ in range(2):
            assert server.request("HEAD", path + secret).status == HTTPStatus.OK
            assert browser.open(path + secret).status == HTTPStatus.OK
            browser.log_in(recipient)
        received = server.succeed("GET", "/users/me/invitations", by=recipient)["data"]
        assert len(received) == 1
        body = {"secret": secret}
        server.succeed("POST", "/api/v1/invitation-acceptances", by=recipient, json_body=body)

    def test_a_wrong_secret_has_the_page_of_a_used_one(
        self, server: LiveServer, path: str, secret: str, recipient: LiveUser
    ) -> None:
        body = {"secret": secret}
        server.succeed("POST", "/api/v1/invitation-acceptances", by=recipient, json_body=body)
        used, wrong = (server.request("GET", path + one) for one in (secret, "x" * len(secret)))
        assert used.status == wrong.status
        assert used.status in _CLIENT_ERRORS

    def test_it_keeps_the_secret_to_itself(self, server: LiveServer, path: str, secret: str) -> None:
        headers = server.request("GET", path + secret).headers
        assert headers["referrer-policy"] == "no-referrer"
        assert "no-store" in headers["cache-control"]


class SessionPagesContract:
    """The contract of pages that need a session, and of menu items. Provide the fixture ``path``.

    The module of the test class has a fixture ``server`` with the scope ``module``: a
    :class:`~strongroom.testing.server.LiveServer` with the plugin and one that has login pages.
    """

    @pytest.fixture
    def path(self) -> str:
        """The path of the page, to which an item of the menu leads."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def user(self, server: LiveServer) -> LiveUser:
        return server.user()

    @pytest.fixture
    def browser(self, server: LiveServer, user: LiveUser, path: str) -> Browser:
        """A browser whose user is logged in, and has opened the page."""
        browser = Browser(server)
        browser.open(path)
        browser.log_in(user)
        assert (browser.page.status, browser.path) == (200, path)
        return browser

    def test_the_page_leads_to_the_login_and_back(self, browser: Browser) -> None:
        assert browser.page.headers["content-type"].startswith("text/html")

    def test_a_script_without_a_session_gets_an_error(self, server: LiveServer, path: str) -> None:
        reply = Browser(server, Sec_Fetch_Mode="cors").request(path)
        assert reply.status == _UNAUTHORIZED

    def test_the_session_ends_with_its_login(
        self, server: LiveServer, browser: Browser, user: LiveUser, path: str
    ) -> None:
        fresh = LiveUser(user.id, user.email, server.log_in(user.email))
        server.succeed("DELETE", "/users/me/authorizations", by=fresh)
        assert browser.request(path).status in _REDIRECTS

    def test_a_token_is_no_session(self, server: LiveServer, user: LiveUser, path: str) -> None:
        assert server.request("GET", path, by=user).status in (*_REDIRECTS, _UNAUTHORIZED)

    def test_no_cache_stores_it_and_no_site_frames_it(self, browser: Browser) -> None:
        assert browser.page.headers["cache-control"] == "no-store"
        assert "frame-ancestors 'none'" in browser.page.headers["content-security-policy"]

    def test_each_form_needs_the_secret_of_the_session(self, browser: Browser) -> None:
        for action, fields in browser.forms.items():
            forged = {**fields, "csrf": "forged"}
            for form in ({}, {"csrf": ""}, forged):
                reply = browser.request(action, form)
                assert reply.status in _CLIENT_ERRORS, (action, reply.status)
            reply = browser.request(action, fields, **{"Sec-Fetch-Site": "cross-site"})
            assert reply.status in _CLIENT_ERRORS, (action, reply.status)

    def test_the_menu_leads_to_it(self, browser: Browser, path: str) -> None:
        assert f'<a href="{path}"' in browser.open("/account/").text


class LoginRoutesContract:
    """The contract of names that lead to logins. Provide ``address``, ``other_names`` and ``label``.

    The module of the test class has a fixture ``server`` with the scope ``module``: a
    :class:`~strongroom.testing.server.LiveServer` with the plugin and ``login_pages``.
    """

    @pytest.fixture
    def address(self) -> str:
        """A name that leads to a login, which is not required."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def other_names(self) -> Sequence[str]:
        """Names that lead nowhere, each for another reason."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def label(self) -> str:
        """The English text of the button."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    def test_the_page_asks_for_the_name_first(self, server: LiveServer) -> None:
        page = Browser(server).open("/account/login").text
        assert 'name="username"' in page
        assert 'type="password"' not in page

    def test_the_name_leads_to_the_login(self, server: LiveServer, address: str, label: str) -> None:
        browser = Browser(server)
        page = _name_page(browser, address)
        answer = browser.request(_button(page, label))
        assert answer.status in _REDIRECTS, answer.text

    def test_other_names_lead_to_the_same_page(
        self, server: LiveServer, other_names: Sequence[str], label: str
    ) -> None:
        pages = set()
        for name in [*other_names, "a-name-of-no-user"]:
            page = _name_page(Browser(server), name)
            assert label not in page
            pages.add(_SECRETS.sub("", page).replace(name, "NAME"))
        assert len(pages) == 1


def _name_page(browser: Browser, name: str) -> str:
    browser.open("/account/login")
    fields = {**browser.forms["/account/login"], "username": name, "way": "name"}
    return browser.open("/account/login", fields).text


class ConsoleSectionsContract:
    """The contract of a page in the sidebar of the console's server pages. Provide the fixture ``path``.

    The module of the test class has a fixture ``server`` with the scope ``module``: a
    :class:`~strongroom.testing.server.LiveServer` with the plugin, ``login_pages`` and ``console``.
    """

    @pytest.fixture
    def path(self) -> str:
        """The path of the page."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    def test_administrators_find_it_in_the_console(self, server: LiveServer, path: str) -> None:
        browser = _log_in(server, server.user(admin=True), path)
        overview = browser.open("/console/server/")
        assert f'href="{path}"' in overview.text
        page = browser.open(path)
        assert (page.status, browser.path) == (HTTPStatus.OK, path)
        # The same sidebar, in which the page itself is the current one.
        assert 'href="/console/server/"' in page.text
        assert re.search(rf'href="{re.escape(path)}" aria-current="page"', page.text)

    def test_other_users_do_not_open_it(self, server: LiveServer, path: str) -> None:
        browser = _log_in(server, server.user(), path)
        assert browser.page.status in (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)


class SpaceSectionsContract:
    """The contract of a page in the sidebar of the pages of a space. Provide the fixture ``path``.

    The module of the test class has a fixture ``server`` with the scope ``module``: a
    :class:`~strongroom.testing.server.LiveServer` with the plugin, ``login_pages`` and ``console``.
    """

    @pytest.fixture
    def path(self) -> str:
        """The path of the page, with ``{tenant}`` in place of the id of the tenant."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def sees_members(self) -> bool:
        """Whether all members see the page, and not only administrators of the tenant."""
        return False

    def test_administrators_find_it_in_the_space(self, server: LiveServer, path: str) -> None:
        administrator = server.user()
        tenant = server.tenant(administrator)
        here, files = path.format(tenant=tenant), f"/console/tenants/{tenant}/files/"
        browser = _log_in(server, administrator, files)
        assert f'href="{here}"' in browser.page.text
        page = browser.open(here)
        assert (page.status, browser.path) == (HTTPStatus.OK, here)
        # The same sidebar, in which the page itself is the current one.
        assert f'href="{files}"' in page.text
        assert re.search(rf'href="{re.escape(here)}" aria-current="page"', page.text)

    def test_members_see_it_if_it_is_for_them(
        self, server: LiveServer, path: str, sees_members: bool
    ) -> None:
        administrator, member = server.user(), server.user()
        tenant = server.tenant(administrator)
        server.join(tenant, administrator, member)
        here = path.format(tenant=tenant)
        browser = _log_in(server, member, f"/console/tenants/{tenant}/files/")
        assert (f'href="{here}"' in browser.page.text) == sees_members
        assert (browser.open(here).status == HTTPStatus.OK) == sees_members

    def test_people_outside_of_the_space_do_not_open_it(self, server: LiveServer, path: str) -> None:
        tenant = server.tenant(server.user())
        browser = _log_in(server, server.user(), path.format(tenant=tenant))
        assert browser.page.status in (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)


def _log_in(server: LiveServer, user: LiveUser, path: str) -> Browser:
    browser = Browser(server)
    browser.open(path)
    browser.log_in(user)
    return browser


class PageBrandsContract:
    """The contract of the brand of an application on pages of a login. Provide ``path`` and ``name``.

    The module of the test class has a fixture ``server`` with the scope ``module``: a
    :class:`~strongroom.testing.server.LiveServer` with the plugin and ``login_pages``.
    """

    @pytest.fixture
    def path(self) -> str:
        """A path that needs a login, and leads to the application."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def name(self) -> str:
        """The name of the application."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    def test_the_login_names_the_application(self, server: LiveServer, path: str, name: str) -> None:
        browser = Browser(server)
        browser.open(path)
        assert browser.path.partition("?")[0] == "/account/login"
        assert f"<bdi>{name}</bdi>" in browser.page.text

    def test_another_login_does_not(self, server: LiveServer, name: str) -> None:
        assert name not in Browser(server).open("/account/login").text


class LoginLinksContract:
    """The contract of login links and their icons. Provide the fixtures ``label`` and ``approve``.

    The module of the test class has a fixture ``server`` with the scope ``module``: a
    :class:`~strongroom.testing.server.LiveServer` with the plugin and one that has login pages.
    """

    @pytest.fixture
    def label(self) -> str:
        """The English text of the button."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def approve(self) -> Approve:
        """A function that confirms a login of a new user at the identity provider."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def browser(self, server: LiveServer) -> Browser:
        browser = Browser(server)
        browser.open("/account/login")
        return browser

    @pytest.fixture
    def begin(self, browser: Browser, label: str) -> Callable[[], str]:
        """Press the button, and return the URL that the browser is sent to."""

        def press() -> str:
            path = _button(browser.open("/account/login").text, label)
            location = browser.request(path).headers["location"]
            assert re.match(r"https?://", location), location
            return location

        return press

    def test_a_login_begins_the_session(
        self, browser: Browser, begin: Callable[[], str], approve: Approve
    ) -> None:
        browser.open(approve(begin()))
        assert (browser.page.status, browser.path) == (200, "/account/")

    def test_each_login_has_a_state_of_its_own(self, begin: Callable[[], str]) -> None:
        assert begin() != begin()

    def test_a_callback_is_accepted_once(
        self, browser: Browser, begin: Callable[[], str], approve: Approve
    ) -> None:
        callback = approve(begin())
        browser.open(callback)
        browser.cookies.pop("strongroom-session")
        browser.open(callback)
        assert browser.open("/account/").status == 200
        assert browser.path == "/account/login"

    def test_a_callback_of_another_browser_begins_no_session(
        self, server: LiveServer, begin: Callable[[], str], approve: Approve
    ) -> None:
        victim = Browser(server)
        victim.open("/account/login")
        victim.open(approve(begin()))
        victim.open("/account/")
        assert victim.path == "/account/login"

    def test_a_callback_without_a_state_begins_no_session(
        self, browser: Browser, begin: Callable[[], str], approve: Approve
    ) -> None:
        path = approve(begin()).partition("?")[0]
        for query in ("", "?state=forged", "?code=x", "?error=access_denied"):
            assert browser.request(f"{path}{query}").status < 500, query
            browser.open("/account/")
            assert browser.path == "/account/login"

    def test_its_icon_is_a_picture(self, browser: Browser, server: LiveServer, label: str) -> None:
        page = browser.page.text
        icons = re.findall(r'<img src="([^"]+)"[^>]*>\s*' + re.escape(label), page)
        for icon in icons:
            reply = server.request("GET", icon)
            assert reply.headers["content-type"].startswith("image/")
            assert "immutable" in reply.headers["cache-control"]


def _button(page: str, label: str) -> str:
    """Return the path of a button of the login page."""
    # A tab has the text as its label.
    text = re.escape(label)
    link = rf'<a href="([^"]+)"(?: aria-label="{text}"|[^>]*>(?:<img [^>]*>)?\s*{text}\s*</a>)'
    match = re.search(link, page)
    assert match is not None, f"the login page has no button {label!r}"
    return unescape(match[1])
