"""The server in this process, with a provider on a real port."""

from collections.abc import Iterator

import pytest
from tests.support.api import Api
from tests.support.config import Table, lifted

from strongroom.testing.clock import ManualClock

from ..hostile import HostileProvider, serving
from .browsers import People, configured


@pytest.fixture
def provider(clock: ManualClock) -> Iterator[HostileProvider]:
    with serving(HostileProvider(now=clock.now() / 1000)) as provider:
        yield provider


@pytest.fixture
def other(clock: ManualClock) -> Iterator[HostileProvider]:
    """A second provider, which perhaps is hostile."""
    with serving(HostileProvider(now=clock.now() / 1000)) as other:
        yield other


@pytest.fixture
def config_changes(provider: HostileProvider, other: HostileProvider) -> Table:
    providers = {
        "company": configured(provider),
        "recent": configured(provider, max_age_seconds=600),
        "profile": configured(provider, userinfo=True),
        "strict": configured(provider, algorithms=["ES256"]),
        "other": configured(other),
        "trusted": configured(provider, trust_email=True),
        "members": configured(provider, allowed_domains=["example.com"]),
    }
    oidc = {"providers": providers, "allow_insecure_loopback": True}
    return {
        "plugins": {"enabled": ["storage_local", "login_oidc"]},
        "login": {"methods": ["password", "oidc"], "oidc": oidc},
        **lifted("login_per_address", "captchas_per_address", "code_per_recipient"),
    }


@pytest.fixture
def people(api: Api, provider: HostileProvider, other: HostileProvider) -> People:
    return People(api, {"other": other}, provider)
