"""No forged answer logs in, and none is taken for a failure of this server."""

from collections.abc import Iterator

import pytest

from strongroom.plugin_api.login import LoginRejected, LoginUnavailable

from .clients import logins
from .forged import FORGED, UNAVAILABLE, Forgery
from .hostile import HostileProvider, key, serving


@pytest.fixture
def provider() -> Iterator[HostileProvider]:
    with serving(HostileProvider()) as provider:
        yield provider


@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")
@pytest.mark.parametrize("userinfo", [False, True])
@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "ES384", "ES512", "EdDSA"])
def test_an_honest_answer_is_accepted(provider: HostileProvider, algorithm: str, userinfo: bool) -> None:
    provider.signer = key(algorithm)
    provider.published = [provider.signer, key("RS512 of another use")]
    with logins(provider, {"userinfo": userinfo, "max_age_seconds": 600}) as client:
        verified = client.log_in()
    assert verified.credential.value == "company:ada"
    assert verified.display_name == "Ada"


@pytest.mark.filterwarnings("ignore:Key size should be")
@pytest.mark.parametrize("forgery", FORGED, ids=lambda forgery: forgery.name)
def test_a_forged_answer_is_refused(provider: HostileProvider, forgery: Forgery) -> None:
    with logins(provider, forgery.options) as client:
        forgery.change(provider)
        with pytest.raises(LoginRejected) as refusal:
            client.log_in()
    assert refusal.value.code == "error.oidc-answer-invalid"


@pytest.mark.parametrize("failure", UNAVAILABLE, ids=lambda failure: failure.name)
def test_a_provider_that_is_down_makes_the_login_unavailable(
    provider: HostileProvider, failure: Forgery
) -> None:
    with logins(provider, failure.options, read_timeout=0.3) as client:
        failure.change(provider)
        with pytest.raises(LoginUnavailable) as unavailable:
            client.log_in()
    assert not unavailable.value.misconfigured


def test_the_corpus_has_no_row_twice_and_more_than_one_hundred_and_twenty() -> None:
    names = [forgery.name for forgery in FORGED]
    assert len(set(names)) == len(names) >= 120
