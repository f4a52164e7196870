"""Passkeys: the contract of second factors, and what the data and the assurance of each kind are."""

from typing import Any

import pytest

from strongroom.plugin_api.factors import Site
from strongroom.testing.factors import Device
from strongroom_login_passkey.factor import PasskeyFactor
from strongroom_login_passkey.options import PasskeyOptions
from strongroom_simulators.passkeys.authenticator import SoftwareAuthenticator
from strongroom_simulators.passkeys.contract import PasskeyContract

ORIGIN = "https://files.example.com"


class SecurityKey(Device):
    """A security key."""

    def __init__(self) -> None:
        self._authenticator = SoftwareAuthenticator(ORIGIN, is_synced=False)

    def enrol(self, shown: dict[str, Any]) -> Any:
        return self._authenticator.create(shown["publicKey"])

    def answer(self, shown: dict[str, Any], enrolled: dict[str, Any]) -> Any:
        return self._authenticator.get(shown["publicKey"])


class TestPasskey(PasskeyContract):
    public_data = ("id",)

    @pytest.fixture
    def factor(self) -> PasskeyFactor:
        return PasskeyFactor(PasskeyOptions(), Site(ORIGIN))

    @pytest.fixture
    def device(self) -> SecurityKey:
        return SecurityKey()

    @pytest.fixture
    def origin(self) -> str:
        return ORIGIN
