"""The TypeScript client has each method of this one, by the same name."""

import re
from pathlib import Path

import pytest

from strongroom_client import AsyncClient

SOURCES = Path(__file__).parents[2] / "typescript" / "src"
METHOD = re.compile(r"^  (?:override )?(?:async )?\*?(\w+)(?:<.*)?\(", re.MULTILINE)
OTHERS = {
    # The operations of `api` are methods there, and connections are the platform's.
    ("client", "send"): None,
    ("client", "close"): None,
    ("client", "lines"): None,
    # For machines without a browser.
    ("client", "log_in_by_device"): None,
    ("client", "redeem_link"): ("accounts", "redeemLink"),
}
PARTS = (
    "accounts",
    "grants",
    "service_accounts",
    "shares",
    "trash",
    "user_imports",
    "users",
    "versions",
)


def public(value: object) -> set[str]:
    names = {name for name in dir(type(value)) if not name.startswith("_")}
    return {name for name in names if callable(getattr(type(value), name))}


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def methods(module: str) -> set[str]:
    files = ("client", "file-operations") if module == "client" else (module.replace("_", "-"),)
    return {name for file in files for name in METHOD.findall((SOURCES / f"{file}.ts").read_text())}


@pytest.mark.parametrize("part", ["client", *PARTS])
def test_the_typescript_client_has_each_method(part: str) -> None:
    client = AsyncClient("http://localhost")
    expected = {
        name: OTHERS.get((part, name), (part, camel(name)))
        for name in public(client if part == "client" else getattr(client, part))
    }
    assert len(expected) > 3
    missing = [name for name, place in expected.items() if place and place[1] not in methods(place[0])]
    assert missing == []


def test_each_part_of_the_client_is_compared() -> None:
    attributes = {name for name in vars(AsyncClient("http://localhost")) if not name.startswith("_")}
    assert attributes == set(PARTS)
