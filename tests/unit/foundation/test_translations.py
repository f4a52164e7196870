"""Every message of the core and the plugins has a Chinese text, with Chinese punctuation."""

import inspect
import re
import tomllib
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from string import Formatter

import pytest
from marshmallow import Schema, ValidationError, fields, validate
from tests.support.messages import ROOT, messages_in

from strongroom.activity.notifications.templates import TEMPLATES, Text
from strongroom.foundation.errors import catalogue
from strongroom.foundation.translations import Translations

CORE = ROOT / "core/src/strongroom"
PLUGINS = sorted(
    path for folder in ("plugins", "examples") for path in (ROOT / folder).glob("*/src/strongroom_*")
)
FILES = sorted(
    {
        *ROOT.glob("core/src/strongroom/foundation/translations/*.toml"),
        *ROOT.glob("plugins/*/src/*/translations/*.toml"),
        *ROOT.glob("examples/*/src/*/translations/*.toml"),
    }
)

NOT_SENT = {
    "no space",  # of the contract tests
}
COMPUTED = {
    "{}.",  # a refused URL of a webhook; its texts are in the plugin's file
}

CHINESE = re.compile(r"[\u4e00-\u9fff]")
HALF_WIDTH = re.compile(r"[\u4e00-\u9fff”}][,:;!?()]|[,:;!?()]\s*[\u4e00-\u9fff“]|\$\w+[,:;]")
"""Punctuation of Latin scripts next to Chinese characters, quotes or placeholders."""


def translated(text: str, translations: Translations) -> str:
    return translations.translate(text.replace("{}", "x1"), "zh")


def without_chinese(folder: Path, translations: Translations) -> list[str]:
    texts = messages_in(folder).keys() - NOT_SENT - COMPUTED
    return sorted(text for text in texts if not CHINESE.search(translated(text, translations)))


def test_every_error_code_of_the_core_has_a_chinese_message() -> None:
    translations = Translations()
    messages = {kind.code: translations.translate(kind.message, "zh") for kind in catalogue()}
    assert len(messages) > 70
    assert [code for code, text in messages.items() if not CHINESE.search(text)] == []


def test_every_message_in_the_code_of_the_core_has_a_chinese_text() -> None:
    assert len(messages_in(CORE)) > 100
    assert without_chinese(CORE, Translations()) == []


@pytest.mark.parametrize("folder", PLUGINS, ids=lambda path: path.name)
def test_every_message_of_a_plugin_has_a_chinese_text_in_the_plugin_or_the_core(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Examples are not installed.
    monkeypatch.syspath_prepend(folder.parent)
    assert without_chinese(folder, Translations([folder.name])) == []


def marshmallow_messages() -> Iterator[str]:
    for kind in vars(fields).values():
        if inspect.isclass(kind) and issubclass(kind, fields.Field):
            yield from map(str, kind.default_error_messages.values())
    yield from Schema._default_error_messages.values()
    for kind in vars(validate).values():
        if inspect.isclass(kind) and kind is not validate.Range:
            names = [name for name in vars(kind) if "message" in name]
            yield from (text for name in names if isinstance(text := getattr(kind, name), str))


def range_messages() -> Iterator[str]:
    """Yield the messages of each combination of limits; marshmallow composes them."""
    for least, most in product((1, None), (5, None)):
        for includes_least, includes_most in product((True, False), repeat=2):
            limits = validate.Range(
                least, most, min_inclusive=includes_least, max_inclusive=includes_most
            )
            for value in (-9, 99):
                try:
                    limits(value)
                except ValidationError as error:
                    yield str(error.messages[0])


def test_every_message_of_marshmallow_has_a_chinese_text() -> None:
    filled = [re.sub(r"\{\w+(!r)?\}", "x1", text) for text in marshmallow_messages()]
    texts = {*filled, *range_messages()}
    translations = Translations()
    assert len(texts) >= 50
    assert [text for text in texts if not CHINESE.search(translations.translate(text, "zh"))] == []


def test_every_mail_has_a_chinese_subject_and_text() -> None:
    texts: set[Text] = set(TEMPLATES.values()) - {TEMPLATES["plugin-notice"]}
    translations = Translations()
    parts = {part for text in texts for part in text.parts}
    assert [part for part in parts if not CHINESE.search(translations.translate(part, "zh"))] == []


def placeholders(text: str) -> set[str | None]:
    return {name for _, name, _, _ in Formatter().parse(text)} | set(re.findall(r"\$\w+", text))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parents[1].name)
def test_a_translation_has_the_placeholders_of_its_text_and_no_other(path: Path) -> None:
    texts = tomllib.loads(path.read_text())
    wrong = [
        english
        for english, text in texts.items()
        if placeholders(english) - {None} != placeholders(text) - {None}
    ]
    assert wrong == []


QUOTED = re.compile(r'"([^"]*[\u4e00-\u9fff][^"]*)"')
TEXTS = {
    "toml": QUOTED,
    "toml.template": QUOTED,
    "js": QUOTED,
    # A template has texts between tags, too, and on lines of their own.
    "html": re.compile(r"^.*[\u4e00-\u9fff].*$"),
}
"""The Chinese texts of a line, by the suffix of the file."""


def chinese_lines() -> Iterator[tuple[str, str]]:
    """Yield each Chinese text of a file that users see: catalogues, templates, and scripts of pages."""
    for suffix, texts in TEXTS.items():
        for folder in ("core/src", "plugins", "examples"):
            for path in (ROOT / folder).rglob(f"*.{suffix}"):
                if "tests" not in path.parts:
                    for line in path.read_text().splitlines():
                        for text in texts.findall(line):
                            yield path.relative_to(ROOT).as_posix(), text


def test_chinese_texts_have_full_width_punctuation() -> None:
    lines = list(chinese_lines())
    assert len(lines) > 400
    assert [line for line in lines if HALF_WIDTH.search(line[1])] == []


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        ("Must be one of: a, b.", "必须是以下之一：a, b。"),
        ("The access key lacks the scope files:read.", "访问密钥没有权限范围 files:read。"),
        # The most specific text decides.
        ("Must be one of: a, b; detected c.", "必须是以下之一：a, b；检测到 c。"),
        # A part may be a text itself.
        (
            'Must be names like a/b/c.txt: May not be "." or "..".',
            "必须是类似 a/b/c.txt 的名称：不能是“.”或“..”。",
        ),
        ("Nothing has this text.", "Nothing has this text."),
        ("Must be one of: " + "x" * 3000 + ".", "Must be one of: " + "x" * 3000 + "."),
    ],
)
def test_texts_with_parts_that_vary_are_translated(text: str, chinese: str) -> None:
    assert Translations().translate(text, "zh") == chinese
    assert Translations().translate(text, "en") == text
