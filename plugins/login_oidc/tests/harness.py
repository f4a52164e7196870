"""What the contract of logins by redirect needs to know of the provider of the tests."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from strongroom_login_oauth.testing import MEMBER, OUTSIDER, Harness
from strongroom_login_oauth.testing.harness import Through, query_parameters
from strongroom_login_oidc.method import OIDCLogin

from .hostile import CLIENT_ID, CLIENT_SECRET, HostileProvider


class ProviderHarness(Harness):
    """People of a company with addresses of its domain, and an outsider of another domain.

    Args:
        clock: returns the server's time in seconds.
    """

    method = OIDCLogin
    plugin = "login_oidc"

    def __init__(self, provider: HostileProvider, clock: Callable[[], float]) -> None:
        self._provider = provider
        self._address = provider.url
        self._clock = clock

    def options(self, through: Through) -> Mapping[str, Any]:
        self._provider.url = through(self._address)
        client = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
        company = {"issuer": self._provider.url, **client, "allowed_domains": ["example.com"]}
        return {"allow_insecure_loopback": True, "providers": {"company": company}}

    def approve(self, url: str, person: str = MEMBER) -> str:
        query = query_parameters(url)
        domain = "example.org" if person == OUTSIDER else "example.com"
        email = {"email": f"{person}@{domain}", "email_verified": True}
        self._provider.now = self._clock()
        answer = self._provider.confirm(
            query["nonce"],
            query["code_challenge"],
            query["redirect_uri"],
            is_challenge=True,
            claims={"sub": person, **email},
        )
        return _redirect(query, answer)

    def refuse(self, url: str) -> str:
        return _redirect(query_parameters(url), {"error": "access_denied", "iss": self._provider.url})

    @property
    def secrets(self) -> tuple[str, ...]:
        return (CLIENT_SECRET,)


def _redirect(query: Mapping[str, str], answer: Mapping[str, Any]) -> str:
    return f"{query['redirect_uri']}?{urlencode({**answer, 'state': query['state']})}"
