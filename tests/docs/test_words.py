"""Code, docs and messages name the actor: a user, a caller, a client, a node."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = [
    *ROOT.glob("*.md"),
    *ROOT.glob("changelog.d/*.md"),
    *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("core/src/**/*.py"),
    *ROOT.glob("plugins/*/src/**/*.py"),
    *ROOT.glob("clients/python/src/**/*.py"),
    *ROOT.glob("bench/*.py"),
    *ROOT.glob("release/*.py"),
]
# A name in quotes, such as "nobody", is a value.
AVOIDED = re.compile(
    r"""(?<!["'.@:/\w-])\b(whoever|nobody|somebody|anybody|anew|whom|told|for ever)\b(?!["'@:])""",
    re.IGNORECASE,
)
VALUES = {"plugins/share_links/src/strongroom_share_links/options.py": 1}
"""How many times a file names a value without quotes."""


def avoided(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if AVOIDED.search(line)]


@pytest.mark.parametrize("text", ["Whoever finds a key", "told apart", "so that nobody sees it"])
def test_words_without_an_actor_are_recognized(text: str) -> None:
    assert AVOIDED.search(text)


def test_no_text_uses_a_word_without_an_actor() -> None:
    assert len(TEXTS) > 500
    found = {str(path.relative_to(ROOT)): avoided(path) for path in TEXTS if "_build" not in path.parts}
    assert {path: lines for path, lines in found.items() if len(lines) > VALUES.get(path, 0)} == {}
