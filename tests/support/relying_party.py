"""A client of the provider, and the browser of its user, in front of an application in this process."""

import hashlib
import html
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self
from urllib.parse import parse_qsl, quote_plus, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet

from strongroom.foundation.database.upgrade import upgrade
from strongroom_login_pages.plugin import register_tables as page_tables
from strongroom_oidc_provider.clients.clients import Clients
from strongroom_oidc_provider.plugin import register_tables
from strongroom_oidc_provider.schemas import NewClientSchema
from tests.support.api import Answer, Api, Json, Person
from tests.support.page_browser import PageBrowser

PLUGINS: Final = ["storage_local", "login_pages", "oidc_provider"]
CALLBACK: Final = "https://wiki.example.com/callback"
VERIFIER: Final = "a-verifier-of-at-least-43-characters-for-pkce-s256"
CHALLENGE: Final = urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


@dataclass
class RelyingParty:
    """A registered client.

    Args:
        secret: its secret; ``None``: a public client.
    """

    api: Api
    id: str
    secret: str | None
    uri: str = CALLBACK
    defaults: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def register(cls, api: Api, **members: Any) -> Self:
        """Register a client, trusted unless the members say otherwise."""
        tables = {"login_pages": page_tables(), "oidc_provider": register_tables()}
        upgrade(api.container.database.engine, tables)
        body = {"name": "Wiki", "redirectUris": [CALLBACK], "trusted": True, **members}
        service: Clients = api.container.hosts.get("oidc_provider").get_service(Clients)
        client, secret = service.create(NewClientSchema().load(body))
        return cls(api, client.id, secret, next(iter(client.redirect_uris), CALLBACK))

    def url(self, **changes: str | None) -> str:
        """Return the URL of a request for an authorization; ``None`` leaves a parameter out."""
        parameters: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.id,
            "redirect_uri": self.uri,
            "scope": "openid",
            "state": "the state",
            "nonce": "the nonce",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            **changes,
        }
        values = {name: value for name, value in parameters.items() if value is not None}
        return f"/oauth2/authorize?{urlencode(values)}"

    def authorize(self, browser: PageBrowser, **changes: str | None) -> Json:
        """Request an authorization in a browser that needs no page; return what the client gets."""
        browser.open(self.url(**changes))
        return get_returned(browser)

    def code(self, browser: PageBrowser, **changes: str | None) -> str:
        """Return a code for a user who is logged in."""
        code: str = self.authorize(browser, **changes)["code"]
        return code

    def exchange(self, code: str, **changes: str | None) -> Answer:
        """Exchange a code for tokens."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.uri,
            "code_verifier": VERIFIER,
            **changes,
        }
        return self.send("/oauth2/token", **form)

    def tokens(self, browser: PageBrowser, **changes: str | None) -> Json:
        """Return new tokens for a user who is logged in."""
        answer = self.exchange(self.code(browser, **changes))
        assert answer.status_code == 200, answer.text
        tokens: Json = answer.json
        return tokens

    def refresh(self, token: str, **changes: str | None) -> Answer:
        """Exchange a refresh token."""
        form = {"grant_type": "refresh_token", "refresh_token": token, **changes}
        return self.send("/oauth2/token", **form)

    def send(self, path: str, **form: str | None) -> Answer:
        """Send a form with the authentication of the client."""
        values = {name: value for name, value in form.items() if value is not None}
        headers = {}
        if self.secret is None:
            values.setdefault("client_id", self.id)
        else:
            pair = f"{quote_plus(self.id)}:{quote_plus(self.secret)}"
            headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        return post_form(self.api, path, values, headers)

    def user_info(self, token: str) -> Answer:
        """Request the claims about the user of an access token."""
        headers = {"Authorization": f"Bearer {token}"}
        return Answer(self.api.app.test_client().get("/oauth2/userinfo", headers=headers))

    def claims(self, tokens: Json) -> Json:
        """Return the claims of an ID token, verified as a client does."""
        keys = KeySet.import_key_set(self.api.get("/.well-known/jwks.json").json)
        token = jwt.decode(tokens["id_token"], keys, algorithms=["RS256"])
        assert token.claims["aud"] in (self.id, [self.id])
        return dict(token.claims)


def post_form(
    api: Api, path: str, form: Mapping[str, str], headers: Mapping[str, str] | None = None
) -> Answer:
    """Send a form without a browser."""
    return Answer(api.app.test_client().post(path, data=form, headers=headers or {}))


def get_returned(browser: PageBrowser) -> Json:
    """Return the parameters that the browser takes to the client, by a redirect or a page."""
    location = browser.page.headers.get("Location")
    if location is None:
        match = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', browser.page.text)
        assert match is not None, browser.page.text
        location = html.unescape(match[1])
    return dict(parse_qsl(urlsplit(location).query, keep_blank_values=True))


def logged_in(api: Api, person: Person | None = None) -> PageBrowser:
    """Return a browser whose user is logged in."""
    browser = PageBrowser(api)
    browser.log_in((person or api.person()).email)
    return browser
