"""The contract about contacts, with each preset against its simulated platform, on one server."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any, Final

import pytest
from tests.support.platform_contacts import NEVER

from strongroom.plugin_api.login import Credential
from strongroom.testing.state import OpenedPlugin
from strongroom_login_oauth.testing import (
    MAIN,
    TRUSTING,
    UNPROVEN,
    ContactsContract,
    OAuthContacts,
    PlatformContacts,
    make_email,
    opened_platform,
)
from strongroom_login_oidc.presets import PRESETS
from strongroom_simulators.oidc_providers import Person
from strongroom_simulators.oidc_providers.samples import STAFF_TENANT

from .preset_harness import PresetHarness, preset_harness

PLATFORMS: Final = ("openid", *PRESETS)


class PresetContacts(OAuthContacts):
    """People whose addresses a platform has verified, or not."""

    def __init__(self, preset: str, harness: PresetHarness) -> None:
        super().__init__(harness)
        self._preset = preset
        self._provider = harness.provider
        self.never = NEVER[preset]
        self.names = (f"{preset}-{MAIN}", f"{preset}-{TRUSTING}")
        # Those that verify no address refuse the option.
        self.trust = {} if self.never else {"trust_email": True}

    def join(self, person: str, state: str, number: int) -> Credential:
        contact, is_verified = make_email(number), state != UNPROVEN
        claims = _claims(self._preset, number, is_verified=is_verified)
        account = Person(person, str(70_000 + number), person, contact.value, is_verified, claims)
        self._provider.add_person(account)
        return contact


def _claims(preset: str, number: int, *, is_verified: bool) -> Mapping[str, Any]:
    """Return what a platform states of a person apart from the standard claims."""
    claims: Mapping[str, Mapping[str, Any]] = {
        "google": {"hd": "example.com"},
        "microsoft": {"tid": STAFF_TENANT, "oid": f"00000000-0000-0000-0000-{number:012}"},
        "github": {"login": f"person{number}"},
        "gitee": {"login": f"person{number}"},
        # As a mapping of the operator says it: by default, it says that none is verified.
        "authentik": {"email_verified": is_verified},
    }
    return claims.get(preset, {})


@pytest.fixture(scope="module")
def platforms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, PlatformContacts]]:
    folder = tmp_path_factory.mktemp("keys")
    with ExitStack() as stack:
        harnesses = [stack.enter_context(preset_harness(name, folder)) for name in PLATFORMS]
        yield {
            name: PresetContacts(name, harness)
            for name, harness in zip(PLATFORMS, harnesses, strict=True)
        }


@pytest.fixture(params=PLATFORMS)
def contacts(
    request: pytest.FixtureRequest, platforms: Mapping[str, PlatformContacts]
) -> PlatformContacts:
    return platforms[request.param]


class TestContacts(ContactsContract):
    """The users of contacts of a platform."""

    @pytest.fixture(scope="class")
    @classmethod
    def opened(
        cls, tmp_path_factory: pytest.TempPathFactory, platforms: Mapping[str, PlatformContacts]
    ) -> Iterator[OpenedPlugin]:
        with opened_platform(tmp_path_factory.mktemp("opened"), *platforms.values()) as opened:
            yield opened
