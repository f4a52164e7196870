"""Contract tests for schemes of imported password hashes."""

from collections.abc import Sequence
from typing import Any

import pytest

from strongroom.plugin_api.password_schemes import HashRejected, ImportedHash, Json, PasswordScheme

PASSWORD = "Correct1Horse"  # noqa: S105
OTHERS = ("", "correct1horse", "Correct1Horse!", "Correct1Hors", "x" * 1024, "密码", "\0", "\ud7ff")
GARBAGE: Sequence[Any] = (
    *(None, "", "0", "x" * 100_000, "\0", "密码", "$", "$2b$", "$argon2id$", "a$b$c$d$e$f", "{}", "{"),
    *(7, -1, 10**40, 1.5, True, [], ["x"], {}, {"value": {}}, {"value": "x", "encoding": "hex"}),
)
MAX_NAME, MAX_COST = 32, 64


class PasswordSchemeContract:
    """The contract of schemes. Provide the fixtures ``scheme`` and ``described``."""

    @pytest.fixture
    def scheme(self) -> PasswordScheme:
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def described(self) -> Json:
        """The JSON of a hash of :data:`PASSWORD` as the other system made it."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def expensive(self) -> Sequence[Json]:
        """Optional: hashes, each above one cap."""
        pytest.skip("no expensive hashes provided")

    @pytest.fixture
    def expensive_texts(self) -> Sequence[str]:
        """Optional: stored texts, each above one cap."""
        pytest.skip("no expensive texts provided")

    def test_the_right_password_matches(self, scheme: PasswordScheme, described: Json) -> None:
        assert matches(scheme, scheme.parse(described), PASSWORD)

    def test_other_passwords_do_not(self, scheme: PasswordScheme, described: Json) -> None:
        parsed = scheme.parse(described)
        assert [other for other in OTHERS if matches(scheme, parsed, other)] == []

    def test_its_texts_fit_the_table_and_hide_in_logs(
        self, scheme: PasswordScheme, described: Json
    ) -> None:
        parsed = scheme.parse(described)
        assert len(scheme.name) <= MAX_NAME
        assert len(parsed.cost) <= MAX_COST
        assert "\n" not in parsed.text
        assert parsed.text not in repr(parsed)

    def test_a_fast_digest_is_not_in_the_text(self, scheme: PasswordScheme, described: Json) -> None:
        parsed = scheme.parse(described)
        if parsed.digest is None:
            pytest.skip("a slow hash")
        assert parsed.digest not in parsed.text
        assert parsed.digest not in repr(parsed)

    def test_an_empty_object_is_refused(self, scheme: PasswordScheme) -> None:
        with pytest.raises(HashRejected):
            scheme.parse({})

    def test_a_member_of_any_value_is_refused_or_read(
        self, scheme: PasswordScheme, described: Json
    ) -> None:
        for changed in (each for value in GARBAGE for each in replacements(described, value)):
            try:
                parsed = scheme.parse(changed)
            except HashRejected:
                continue
            assert isinstance(parsed, ImportedHash), changed

    def test_expensive_hashes_are_refused(
        self, scheme: PasswordScheme, expensive: Sequence[Json]
    ) -> None:
        for described in expensive:
            with pytest.raises(HashRejected):
                scheme.parse(described)

    def test_an_expensive_text_is_refused_before_it_is_computed(
        self, scheme: PasswordScheme, expensive_texts: Sequence[str]
    ) -> None:
        for text in expensive_texts:
            with pytest.raises(HashRejected):
                scheme.verify(PASSWORD, text)


def matches(scheme: PasswordScheme, parsed: ImportedHash, password: str) -> bool:
    """Return whether a password matches, by the hash or by the digest."""
    if parsed.digest is None:
        return scheme.verify(password, parsed.text)
    return scheme.digest(password, parsed.text) == parsed.digest


def replacements(described: Json, value: Any) -> list[dict[str, Any]]:
    """Return copies of an object; in each, one member has another value, also a nested one."""
    changed = [{**described, name: value} for name in described]
    for name, member in described.items():
        if isinstance(member, dict):
            changed += [{**described, name: inner} for inner in replacements(member, value)]
    return changed
