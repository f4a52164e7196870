"""Browsers that log in at a provider of the tests."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.support.api import Answer, Api, Person
from tests.support.config import Table
from tests.support.wechat import Browser

from ..hostile import CLIENT_ID, CLIENT_SECRET, HostileProvider, Json

REQUESTS = "/api/v1/oidc-authorization-requests"
AUTHORIZATIONS = "/api/v1/oidc-authorizations"
IDS = "/api/v1/users/me/oidc-ids"


def configured(provider: HostileProvider, **options: Any) -> Table:
    """Return the configuration of a provider."""
    client = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    return {"issuer": provider.url, **client, **options}


class People:
    """People with browsers of their own."""

    def __init__(self, api: Api, others: dict[str, HostileProvider], provider: HostileProvider) -> None:
        self.api = api
        self._others = others
        self._provider = provider

    def begin(self, browser: Browser, name: str = "company", by: Person | None = None) -> Answer:
        """Request the URL of the provider's page."""
        purpose = {"purpose": "bind"} if by else {}
        return browser.post(REQUESTS, {"provider": name, **purpose}, by)

    def confirm(self, began: Answer, name: str = "company") -> Json:
        """Confirm the login at the provider, as its page does; return the parameters of the redirect."""
        assert began.status_code == 201, began.text
        query = dict(parse_qsl(urlsplit(began.json["url"]).query))
        provider = self._others.get(name, self._provider)
        redirect = provider.confirm(
            query["nonce"], query["code_challenge"], query["redirect_uri"], is_challenge=True
        )
        return {**redirect, "state": query["state"]}

    def log_in(self, name: str = "company", browser: Browser | None = None) -> Answer:
        """Log in by the REST API, in a browser of its own."""
        used = browser or Browser(self.api)
        return used.post(AUTHORIZATIONS, self.confirm(self.begin(used, name), name))

    def bind(self, by: Person, name: str = "company") -> Answer:
        """Bind the account at a provider, with a code sent to the user's address."""
        browser = Browser(self.api)
        redirect = self.confirm(self.begin(browser, name, by), name)
        return browser.post(IDS, {**redirect, "heldCode": self.api.code(self._contact(by), "bind")}, by)

    def unbind(self, by: Person) -> Answer:
        """Unbind the accounts at all providers, with a code sent to the user's address."""
        code = self.api.code(self._contact(by), "unbind")
        headers = {"X-Verification-Code": f"{code['id']}.{code['code']}"}
        return self.api.delete(IDS, by=by, headers=headers)

    def _contact(self, by: Person) -> str:
        listed = self.api.get("/users/me/credentials", by=by).json["data"]
        contact: str = next(item["value"] for item in listed if item["kind"] == "email")
        return contact
