"""The key file: rotated by operators, followed by servers."""

import json
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from joserfc.errors import SecurityWarning
from joserfc.jwk import ECKey, OctKey, RSAKey
from tests.support.logs import own_records
from tests.support.signing_plugin import signing_plugin

from strongroom.cli.main import root
from strongroom.identity.sessions.signing_keys import (
    MARGIN,
    KeyFile,
    KeyRingError,
    create_key_file,
    ensure_key,
    key_algorithm,
    load_keys,
    prune,
    rotate,
)
from strongroom.testing.clock import HOUR, MINUTE, ManualClock

LIFETIME = 30 * MINUTE


@pytest.fixture
def path(tmp_path: Path, clock: ManualClock) -> Path:
    """A file with one key."""
    path = tmp_path / "keys.json"
    create_key_file(path, "HS256", clock.now())
    return path


def ids(path: Path) -> list[str | None]:
    """Return the ids of the keys in a file."""
    return [key.kid for key in load_keys(path, "HS256").keys]


def write(path: Path, *keys: dict[str, Any]) -> None:
    path.write_text(json.dumps({"keys": keys}))


class TestRotate:
    """New keys come first; old ones stay as long as they are needed."""

    @pytest.mark.parametrize("algorithm", ["HS256", "RS256"])
    def test_a_new_key_stands_before_the_old_ones(
        self, tmp_path: Path, clock: ManualClock, algorithm: str
    ) -> None:
        path = tmp_path / "new" / "keys.json"
        made = [rotate(path, algorithm, clock.now())[0].kid for _ in range(3)]
        assert [key.kid for key in load_keys(path, algorithm).keys] == made[::-1]

    def test_only_the_owner_can_read_the_file_before_and_after(
        self, path: Path, clock: ManualClock
    ) -> None:
        assert path.stat().st_mode & 0o777 == 0o600
        path.chmod(0o644)
        rotate(path, "HS256", clock.now())
        assert path.stat().st_mode & 0o777 == 0o600
        assert [file.name for file in path.parent.iterdir()] == [path.name]

    def test_a_link_to_the_file_stays_a_link(self, path: Path, clock: ManualClock) -> None:
        link = path.with_name("link.json")
        link.symlink_to(path)
        rotate(link, "HS256", clock.now())
        assert link.is_symlink()
        assert len(ids(path)) == 2

    def test_of_many_who_rotate_at_once_no_key_is_lost(self, path: Path, clock: ManualClock) -> None:
        with ThreadPoolExecutor(16) as pool:
            made = list(pool.map(lambda _: rotate(path, "HS256", clock.now())[0].kid, range(32)))
        assert set(made) < set(ids(path))
        assert len(ids(path)) == 33

    def test_a_file_that_cannot_be_used_is_left_alone(self, path: Path, clock: ManualClock) -> None:
        path.write_text("{}")
        with pytest.raises(KeyRingError, match="no private JWK Set"):
            rotate(path, "HS256", clock.now())
        assert path.read_text() == "{}"


class TestPrune:
    """A key goes when no token that it signed can be good any more."""

    def test_a_key_stays_for_a_lifetime_after_it_was_replaced(
        self, path: Path, clock: ManualClock
    ) -> None:
        clock.advance(90 * 24 * HOUR)
        new, old = rotate(path, "HS256", clock.now())
        clock.advance(LIFETIME + MARGIN - 1)
        assert prune(path, "HS256", clock.now(), LIFETIME) == []
        clock.advance(1)
        assert [key.kid for key in prune(path, "HS256", clock.now(), LIFETIME)] == [old.kid]
        assert ids(path) == [new.kid]

    def test_the_key_that_signs_is_never_pruned(self, path: Path, clock: ManualClock) -> None:
        clock.advance(1000 * 24 * HOUR)
        assert prune(path, "HS256", clock.now(), LIFETIME) == []

    def test_a_key_replaced_at_an_unknown_time_is_kept(self, path: Path, clock: ManualClock) -> None:
        ageless = OctKey.generate_key(256, {"kid": "ageless"}).as_dict(private=True)
        write(path, dict(ageless), *json.loads(path.read_text())["keys"])
        clock.advance(1000 * 24 * HOUR)
        assert prune(path, "HS256", clock.now(), LIFETIME) == []


class TestAlgorithms:
    """The algorithm changes without an end of logins: a file may have keys of both."""

    def test_the_newest_key_of_the_algorithm_signs(self, path: Path, clock: ManualClock) -> None:
        (secret,) = load_keys(path, "HS256").keys
        public = rotate(path, "RS256", clock.now())[0]
        assert load_keys(path, "HS256").signing_key.kid == secret.kid
        ring = load_keys(path, "RS256")
        assert ring.signing_key.kid == public.kid
        assert ring.find(str(secret.kid)) is not None
        assert [(key["kid"], key["alg"]) for key in ring.public_set()["keys"]] == [(public.kid, "RS256")]

    def test_a_generated_file_gets_a_key_of_the_algorithm_once(
        self, path: Path, clock: ManualClock
    ) -> None:
        for _ in range(2):
            ensure_key(path, "RS256", clock.now())
        assert [key_algorithm(key) for key in load_keys(path, "RS256").keys] == ["RS256", "HS256"]

    def test_processes_that_start_at_once_add_one_key(self, path: Path, clock: ManualClock) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: ensure_key(path, "RS256", clock.now()), range(8)))
        assert [key_algorithm(key) for key in load_keys(path, "RS256").keys] == ["RS256", "HS256"]

    def test_the_signing_key_stays_when_a_key_of_another_algorithm_is_newer(
        self, path: Path, clock: ManualClock
    ) -> None:
        rotate(path, "RS256", clock.now())
        clock.advance(90 * 24 * HOUR)
        for _ in range(2):
            rotate(path, "RS256", clock.now())
            clock.advance(90 * 24 * HOUR)
        assert [key_algorithm(key) for key in prune(path, "HS256", clock.now(), LIFETIME)] == [
            "RS256"
        ] * 2
        assert len(ids(path)) == 2

    def test_a_key_that_signed_until_the_algorithm_was_changed_stays_for_a_lifetime(
        self, path: Path, clock: ManualClock
    ) -> None:
        (former,) = load_keys(path, "HS256").keys
        rotate(path, "RS256", clock.now())
        clock.advance(90 * 24 * HOUR)
        # tokens.algorithm is changed now, and the keys are rotated a moment later.
        assert prune(path, "RS256", clock.now(), LIFETIME) == []
        rotate(path, "RS256", clock.now())
        clock.advance(LIFETIME + MARGIN - 1)
        assert former.kid in [key.kid for key in load_keys(path, "RS256").keys]
        assert former.kid not in [key.kid for key in prune(path, "RS256", clock.now(), LIFETIME)]
        clock.advance(1)
        assert former.kid in [key.kid for key in prune(path, "RS256", clock.now(), LIFETIME)]

    def test_the_newest_asymmetric_key_stays_where_a_plugin_signs(
        self, path: Path, clock: ManualClock
    ) -> None:
        old = rotate(path, "RS256", clock.now())[0]
        new = rotate(path, "RS256", clock.now())[0]
        for _ in range(2):
            rotate(path, "HS256", clock.now())
        # Statements may have a longer lifetime than access tokens.
        clock.advance(LIFETIME + MARGIN)
        pruned = prune(path, "HS256", clock.now(), LIFETIME, has_statements=True)
        assert not {old.kid, new.kid} & {key.kid for key in pruned}
        clock.advance(HOUR)
        pruned = prune(path, "HS256", clock.now(), LIFETIME, has_statements=True)
        assert old.kid in {key.kid for key in pruned}
        assert load_keys(path, "HS256").statement_key().kid == new.kid

    def test_a_key_that_signs_again_stays_for_a_lifetime_after_its_successor(
        self, path: Path, clock: ManualClock
    ) -> None:
        rotate(path, "RS256", clock.now())
        clock.advance(90 * 24 * HOUR)
        # tokens.algorithm has remained HS256, or has become it again.
        rotate(path, "HS256", clock.now())
        assert prune(path, "HS256", clock.now(), LIFETIME) == []


class TestFollow:
    """A server uses the file as it is now."""

    def test_a_key_made_elsewhere_is_known_at_once(self, path: Path, clock: ManualClock) -> None:
        file = KeyFile(path, "HS256")
        new = rotate(path, "HS256", clock.now())[0]
        assert file.ring().find(str(new.kid)) is not None
        assert file.ring().signing_key.kid == new.kid

    def test_a_flood_of_unknown_keys_reads_nothing(self, path: Path) -> None:
        file = KeyFile(path, "HS256")
        ring = file.ring()
        path.with_name("elsewhere.json").write_bytes(path.read_bytes())
        before = path.stat()
        # Different content that looks unchanged shows that the file is not opened again.
        path.write_text("x" * before.st_size)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        for number in range(1000):
            assert file.ring().find(f"unknown-{number}") is None
        assert file.ring() is ring

    @pytest.mark.parametrize("content", ["", "{", "{}", '{"keys": []}', None])
    def test_an_unusable_file_changes_nothing_and_is_logged_once(
        self, path: Path, clock: ManualClock, caplog: pytest.LogCaptureFixture, content: str | None
    ) -> None:
        file = KeyFile(path, "HS256")
        ring, good = file.ring(), path.read_text()
        path.unlink() if content is None else path.write_text(content)
        with caplog.at_level(logging.ERROR):
            assert [file.ring() is ring for _ in range(3)] == [True] * 3
        assert len(own_records(caplog)) == 1
        path.write_text(good)
        assert file.ring() is not ring
        assert file.ring().signing_key.kid == ring.signing_key.kid


class TestLoad:
    """A file that must not be used is refused in one line."""

    @pytest.mark.parametrize(
        ("key", "said"),
        [
            (OctKey.generate_key(128, {"kid": "a"}), "less than 256 bits"),
            (RSAKey.generate_key(2048, {"kid": "a"}), "no key of HS256"),
        ],
    )
    def test_a_key_that_is_short_or_of_another_kind(
        self, path: Path, key: OctKey | RSAKey, said: str
    ) -> None:
        write(path, dict(key.as_dict(private=True)))
        with pytest.raises(KeyRingError, match=said):
            load_keys(path, "HS256")

    def test_a_key_of_an_unknown_type(self, path: Path) -> None:
        key = ECKey.generate_key("P-256", {"kid": "a"})
        write(path, dict(key.as_dict(private=True)))
        with pytest.raises(KeyRingError, match="a key of the type EC"):
            load_keys(path, "HS256")

    def test_a_public_or_short_rsa_key(self, path: Path) -> None:
        write(path, dict(RSAKey.generate_key(2048, {"kid": "a"}).as_dict(private=False)))
        with pytest.raises(KeyRingError, match="public RSA key"):
            load_keys(path, "RS256")
        with pytest.warns(SecurityWarning):
            write(path, dict(RSAKey.generate_key(1024, {"kid": "a"}).as_dict(private=True)))
        with pytest.warns(SecurityWarning), pytest.raises(KeyRingError, match="less than 2048 bits"):
            load_keys(path, "RS256")

    def test_a_key_without_an_id_goes_by_its_thumbprint(self, path: Path) -> None:
        key = OctKey.generate_key(256, auto_kid=False)
        write(path, dict(key.as_dict(private=True)))
        assert ids(path) == [key.thumbprint()]

    def test_two_keys_of_one_id(self, path: Path) -> None:
        keys = [dict(OctKey.generate_key(256, {"kid": "a"}).as_dict(private=True)) for _ in range(2)]
        write(path, *keys)
        with pytest.raises(KeyRingError, match="two keys with the same kid"):
            load_keys(path, "HS256")

    def test_no_file_at_all_says_what_makes_one(self, tmp_path: Path) -> None:
        with pytest.raises(KeyRingError, match="run: strongroom keys rotate"):
            load_keys(tmp_path / "none.json", "HS256")


class TestCommands:
    """``strongroom keys``."""

    @pytest.fixture
    def config(self, tmp_path: Path, path: Path) -> Path:
        config = tmp_path / "strongroom.toml"
        config.write_text(f'[tokens]\nkeys_file = "{path}"\n[plugins]\nenabled = ["storage_local"]\n')
        return config

    def run(self, config: Path, *arguments: str) -> str:
        result = CliRunner().invoke(root, ["--config", str(config), "keys", *arguments])
        assert result.exit_code == 0, result.output
        return result.output

    def test_list_shows_ids_ages_and_duties_and_no_key(
        self, config: Path, path: Path, clock: ManualClock
    ) -> None:
        rotate(path, "HS256", clock.now())
        lines = self.run(config, "list").splitlines()
        moment = "2026-06-21T00:00:00.000Z"
        assert [line.split() for line in lines] == [
            [kid, "HS256", moment, duty]
            for kid, duty in zip(ids(path), ("signs", "verifies"), strict=True)
        ]
        secrets = [key["k"] for key in json.loads(path.read_text())["keys"]]
        assert not any(secret in "".join(lines) for secret in secrets)

    def test_the_key_of_statements_signs_where_a_plugin_signs(
        self, tmp_path: Path, config: Path, path: Path, clock: ManualClock
    ) -> None:
        rotate(path, "RS256", clock.now())
        assert [line.split()[-1] for line in self.run(config, "list").splitlines()] == [
            "verifies",
            "signs",
        ]
        folder = signing_plugin(tmp_path)["plugins"]["folder"]
        config.write_text(f'{config.read_text()}folder = "{folder}"\n')
        assert [line.split()[-1] for line in self.run(config, "list").splitlines()] == ["signs"] * 2

    def test_rotate_creates_a_key_and_prune_removes_expired_ones(self, config: Path, path: Path) -> None:
        (first,) = ids(path)
        assert self.run(config, "rotate").splitlines()[-1].startswith(f"{first}  HS256")
        second = ids(path)[0]
        content = json.loads(path.read_text())["keys"]
        content[0]["iat"] -= 3600
        write(path, *content)
        assert f"{first} removed" in self.run(config, "rotate", "--prune")
        assert ids(path)[1:] == [second]

    def test_a_file_that_cannot_be_used_is_one_line(self, config: Path, path: Path) -> None:
        path.write_text("{}")
        result = CliRunner().invoke(root, ["--config", str(config), "keys", "rotate"])
        assert result.exit_code == 1
        remedy = "move the file away, and run: strongroom keys rotate"
        assert result.output == f"Error: {path} is no private JWK Set (RFC 7517); {remedy}\n"
