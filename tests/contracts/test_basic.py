"""The built-in authenticator passes the contract tests of authenticators."""

import base64

import pytest

from strongroom.builtin.basic import BasicAuthenticator
from strongroom.plugin_api.authentication import PresentedCredential, RequestHead
from strongroom.testing.authentication import KEY, AuthenticatorContract, request


def basic(user: str, password: str) -> RequestHead:
    encoded = base64.b64encode(f"{user}:{password}".encode()).decode()
    return request({"Authorization": f"Basic {encoded}"})


class TestBasic(AuthenticatorContract):
    @pytest.fixture
    def authenticator(self) -> BasicAuthenticator:
        return BasicAuthenticator()

    @pytest.fixture(params=["", "anyone", "Ünal"])
    def presenting(self, request: pytest.FixtureRequest) -> RequestHead:
        return basic(request.param, KEY)

    @pytest.mark.parametrize("password", ["", "a:b", "Correct1Horse"])
    def test_any_password_is_left_to_the_core(
        self, authenticator: BasicAuthenticator, password: str
    ) -> None:
        assert authenticator.credential(basic("alice", password)) == PresentedCredential(password)
