"""A logout from the pages leads to the page of the provider that ends the session there."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from tests.support.api import Api

from strongroom.plugin_api.login import LogoutRequest
from strongroom_login_oidc.method import OIDCLogin

from ..hostile import CLIENT_ID, HostileProvider, Reply

BACK = "https://files.example.com/account/login"


@pytest.fixture
def method(api: Api) -> OIDCLogin:
    method = api.container.hosts.get("login_oidc").extension(OIDCLogin)
    assert method is not None
    return method


@pytest.mark.parametrize(
    ("session", "hint"), [("company:s1", "s1"), ("company:", None), ("company:sha256=ab", None)]
)
def test_it_names_the_client_the_session_and_the_way_back(
    method: OIDCLogin, provider: HostileProvider, session: str, hint: str | None
) -> None:
    provider.discovery["end_session_endpoint"] = f"{provider.url}/end?realm=a"
    url = method.logout_url(LogoutRequest("user", session, BACK))
    assert url is not None
    assert url.startswith(f"{provider.url}/end?realm=a&")
    expected = {"realm": "a", "client_id": CLIENT_ID, "post_logout_redirect_uri": BACK}
    expected |= {"logout_hint": hint} if hint else {}
    assert dict(parse_qsl(urlsplit(url).query)) == expected


@pytest.mark.parametrize("session", [None, "", "removed:s1", "company:s1"])
def test_without_such_a_page_there_is_none(method: OIDCLogin, session: str | None) -> None:
    assert method.logout_url(LogoutRequest("user", session, BACK)) is None


def test_a_provider_that_is_down_does_not_stop_the_logout(
    method: OIDCLogin, provider: HostileProvider
) -> None:
    provider.replies["/.well-known/openid-configuration"] = Reply(b"", 503)
    assert method.logout_url(LogoutRequest("user", "company:s1", BACK)) is None
