"""Pages speak of spaces, and have a text for each scope and event."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import strongroom
import strongroom_console
import strongroom_login_pages
import strongroom_share_links
from strongroom.foundation import translations
from strongroom.plugin_api.authentication import Scope
from strongroom_console.scopes import SCOPES
from strongroom_console.server.audit_names import keys_of_action

# Not the names of placeholders.
WORDS_OF_THE_API = re.compile(r"(?<![${])\btenants?\b|租户|\bcontact is bound\b", re.IGNORECASE)
HALF_WIDTH = re.compile(r"[\u4e00-\u9fff]:")


def texts() -> Iterator[tuple[str, str]]:
    """Return the texts of all pages, and where each one is."""
    for package in (strongroom_console, strongroom_login_pages, strongroom_share_links):
        for path in sorted(Path(next(iter(package.__path__))).rglob("*.toml")):
            for key, text in tomllib.loads(path.read_text()).items():
                yield f"{package.__name__}/{path.name}: {key}", text
    path = Path(next(iter(translations.__path__))) / "zh.toml"
    for key, text in tomllib.loads(path.read_text()).items():
        yield f"translations: {key}", text


def test_pages_have_no_words_of_the_api() -> None:
    every = list(texts())
    assert len(every) > 1000
    assert [place for place, text in every if WORDS_OF_THE_API.search(text)] == []


def test_chinese_texts_have_full_width_colons() -> None:
    assert [place for place, text in texts() if HALF_WIDTH.search(text)] == []


def test_each_scope_has_a_text() -> None:
    assert set(SCOPES) == {scope.value for scope in Scope}


AUDITED = re.compile(r'(?:AuditEvent|_record)\([^()"]*"([a-z-]+\.[a-z-]+)"')


def test_each_action_of_the_audit_log_has_a_name() -> None:
    folders = [Path(next(iter(strongroom.__path__))), Path(next(iter(strongroom_share_links.__path__)))]
    sources = [path.read_text() for folder in folders for path in folder.rglob("*.py")]
    actions = {action for source in sources for action in AUDITED.findall(source)}
    assert len(actions) > 40
    assert [action for action in sorted(actions) if not keys_of_action(action)] == []
    assert keys_of_action("member.put") == ("audited-member", "was-put")
    assert keys_of_action("mars.put") == keys_of_action("member.fly") == ()
