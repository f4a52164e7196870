"""Which bindings a new one releases, and how failures of a provider reach the core."""

from collections.abc import Sequence

import pytest

from strongroom.plugin_api.login import Credential, LoginRejected, LoginUnavailable
from strongroom_login_oauth.errors import (
    FAULTS,
    ClientFault,
    Misconfigured,
    ProviderError,
    ProviderUnavailable,
)
from strongroom_login_oauth.testing import Harness, make_attempt, make_login, new_proof


def ids(*values: str) -> Sequence[Credential]:
    return [Credential("acme", value) for value in values]


@pytest.mark.parametrize(
    ("held", "released"),
    [
        (["a:1"], []),
        (["a:1", "b:1"], []),
        (["a:1", "a:2"], ["a:1", "a:2"]),
        (["a:1", "a:2", "b:1"], ["a:1", "a:2"]),
        (["a:x:1", "a:y:2"], ["a:x:1", "a:y:2"]),
        (["a:x:1", "b:x:1"], []),
        (["1", "2"], ["1", "2"]),
        (["1", "a:2"], []),
    ],
)
def test_a_binding_releases_the_former_id_of_its_scope(
    harness: Harness, held: list[str], released: list[str]
) -> None:
    login = make_login(harness)
    others = [Credential("email", "a:1"), Credential("email", "a:2")]
    assert list(login.replaced([*others, *ids(*held)])) == ids(*released)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_refusal_has_the_code_of_the_method(
    harness: Harness, fault: type[ClientFault], monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = refused(harness, fault("why"), monkeypatch)
    assert isinstance(refusal, LoginRejected)
    assert refusal.code == f"error.acme-{fault.suffix}"
    assert refusal.code in {kind.code for kind in harness.method.error_kinds()}


@pytest.mark.parametrize(
    ("error", "retry_after", "is_misconfigured"),
    [
        (ProviderUnavailable("busy", retry_after=7), 7, False),
        (Misconfigured("40013"), 60, True),
    ],
)
def test_a_failure_is_one_of_the_server(
    harness: Harness,
    error: ProviderError,
    retry_after: int,
    is_misconfigured: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failure = refused(harness, error, monkeypatch)
    assert isinstance(failure, LoginUnavailable)
    assert (failure.retry_after, failure.misconfigured) == (retry_after, is_misconfigured)


def refused(harness: Harness, error: ProviderError, monkeypatch: pytest.MonkeyPatch) -> Exception:
    login = make_login(harness)
    proof = new_proof(harness, login)

    def identify(answer: object) -> None:
        raise error

    monkeypatch.setattr(login.providers["main"], "identify", identify)
    with pytest.raises((LoginRejected, LoginUnavailable)) as refusal:
        login.authenticate(make_attempt(login.name, proof))
    return refusal.value
