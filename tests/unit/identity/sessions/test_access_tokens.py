"""Access tokens over rotations of keys, and the cache of verified ones."""

import os
from pathlib import Path

import pytest
from joserfc import jws, jwt
from joserfc.jwk import OctKey

from strongroom.foundation.errors import TokenInvalid
from strongroom.foundation.ids import new_id
from strongroom.identity.sessions.access_tokens import TokenClaims, TokenSigner, VerifiedTokens
from strongroom.identity.sessions.models import Authorization
from strongroom.identity.sessions.signing_keys import (
    CHECK_MILLISECONDS,
    MARGIN,
    KeyFile,
    KeyRing,
    create_key_file,
    dump_keys,
    generate_key,
    prune,
    rotate,
)
from strongroom.plugin_api.login import SINGLE_FACTOR
from strongroom.testing.clock import MINUTE, ManualClock

LIFETIME = 30 * MINUTE
CLAIMS = TokenClaims("user", "authorization", 1, 1)
LOGIN = Authorization(
    id=new_id(),
    user_id="user",
    user_type="USER",
    method="password",
    serial=1,
    device_id=None,
    address="",
    user_agent="",
    created_at=0,
    last_seen_at=0,
    expires_at=1 << 60,
    revoked_at=None,
    amr="pwd",
    acr=SINGLE_FACTOR,
    auth_time=0,
)


def ring() -> KeyRing:
    return KeyRing("HS256", [generate_key("HS256", 0)])


def test_only_the_very_keys_that_verified_a_token_are_remembered_with_it() -> None:
    tokens, ours, others = VerifiedTokens(), ring(), ring()
    assert tokens.recall(ours, "token") is None
    tokens.remember(ours, "token", CLAIMS)
    assert tokens.recall(ours, "token") is CLAIMS
    assert tokens.recall(others, "token") is None
    tokens.remember(others, "other", CLAIMS)
    assert tokens.recall(ours, "token") is None
    assert tokens.recall(others, "token") is None


def test_the_oldest_make_room() -> None:
    tokens, ours = VerifiedTokens(capacity=2), ring()
    for token in ("first", "second", "third"):
        tokens.remember(ours, token, CLAIMS)
    remembered = [tokens.recall(ours, token) is CLAIMS for token in ("first", "second", "third")]
    assert remembered == [False, True, True]


def test_a_token_that_was_good_is_refused_once_it_expires_or_its_key_is_gone(
    tmp_path: Path, clock: ManualClock
) -> None:
    path = tmp_path / "keys.json"
    create_key_file(path, "HS256", clock.now())
    signer = TokenSigner(KeyFile(path, "HS256"), issuer="us", lifetime=LIFETIME, clock=clock)
    token, _ = signer.issue(LOGIN)
    assert signer.check(token) == signer.check(token)
    rotate(path, "HS256", clock.now())
    assert signer.check(token).user_id == "user"
    clock.advance(LIFETIME)
    with pytest.raises(TokenInvalid):
        signer.check(token)
    token, _ = signer.issue(LOGIN)
    assert signer.check(token).user_id == "user"
    path.unlink()
    create_key_file(path, "HS256", clock.now())
    clock.advance(CHECK_MILLISECONDS)
    with pytest.raises(TokenInvalid):
        signer.check(token)


@pytest.mark.parametrize(("former", "new"), [("HS256", "RS256"), ("RS256", "HS256")])
def test_a_change_of_the_algorithm_ends_no_token(
    tmp_path: Path, clock: ManualClock, former: str, new: str
) -> None:
    path = tmp_path / "keys.json"
    create_key_file(path, former, clock.now())
    before = TokenSigner(KeyFile(path, former), issuer="us", lifetime=LIFETIME, clock=clock)
    token, _ = before.issue(LOGIN)
    rotate(path, new, clock.now())
    after = TokenSigner(KeyFile(path, new), issuer="us", lifetime=LIFETIME, clock=clock)
    assert after.check(token).user_id == "user"
    # Servers that still have the former setting know the tokens of those that have the new one.
    renewed, _ = after.issue(LOGIN)
    assert jws.extract_compact(renewed.encode()).headers()["alg"] == new
    assert before.check(renewed).user_id == "user"
    # The second key of the new algorithm shows that the server signs with it.
    rotate(path, new, clock.now())
    prune(path, new, clock.now() + LIFETIME + MARGIN, LIFETIME)
    clock.advance(CHECK_MILLISECONDS)
    with pytest.raises(TokenInvalid):
        after.check(token)


@pytest.mark.parametrize("algorithm", ["HS384", "HS512"])
def test_a_key_verifies_by_its_own_algorithm_only(
    tmp_path: Path, clock: ManualClock, algorithm: str
) -> None:
    # A key of another program, which does not name its algorithm.
    path, key = tmp_path / "keys.json", OctKey.generate_key(512, {"kid": "a"})
    path.write_text(dump_keys([key]))
    signer = TokenSigner(KeyFile(path, "HS256"), issuer="us", lifetime=LIFETIME, clock=clock)
    token = jwt.decode(signer.issue(LOGIN)[0], key)
    header = {**token.header, "alg": algorithm}
    forged = jwt.encode(header, token.claims, key, algorithms=[algorithm])
    with pytest.raises(TokenInvalid):
        signer.check(forged)


def test_tokens_that_are_known_check_the_key_file_once_a_second(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, stat, checks = tmp_path / "keys.json", os.stat, []
    create_key_file(path, "HS256", clock.now())
    signer = TokenSigner(KeyFile(path, "HS256"), issuer="us", lifetime=LIFETIME, clock=clock)
    token, _ = signer.issue(LOGIN)
    signer.check(token)

    def note(name: str) -> os.stat_result:
        checks.append(name)
        return stat(name)

    monkeypatch.setattr(os, "stat", note)
    for expected in ([], [str(path)]):
        for _ in range(10):
            signer.check(token)
        assert checks == expected
        clock.advance(CHECK_MILLISECONDS)


def test_a_clock_that_is_set_back_does_not_hide_changes_of_the_key_file(
    tmp_path: Path, clock: ManualClock
) -> None:
    path = tmp_path / "keys.json"
    create_key_file(path, "HS256", clock.now())
    file = KeyFile(path, "HS256")
    former = file.recent_ring(clock.now())
    rotate(path, "HS256", clock.now())
    assert file.recent_ring(clock.now()) is former
    assert file.recent_ring(clock.now() - LIFETIME) is not former
