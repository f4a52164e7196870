"""Pages speak of spaces, have one word for one thing, and a text for each scope and event."""

import re
import tomllib
from pathlib import Path

import strongroom
import strongroom_share_links
from strongroom.activity.notifications.templates import TEMPLATES
from strongroom.foundation import translations
from strongroom.plugin_api.authentication import Scope
from strongroom_console.scopes import SCOPES
from strongroom_console.server.audit_names import keys_of_action

ROOT = Path(__file__).parents[3]

# Not the names of placeholders.
ENGLISH = re.compile(
    r"(?<![${])\b(tenants?|nodes?|principals?|idempotency|payloads?|metadata|endpoints?|credentials?"
    r"|the user|user names?|second factors?|impersonat\w+|enrol\w*|sign[- ]in|nobody|somebody)\b",
    re.IGNORECASE,
)
CHINESE = re.compile(
    "租户|节点|载荷|帐号|帐户|账户|恢复代码|双重验证|二次验证|代管|分享|手机号码|电子邮箱|你|妳"
)
HALF_WIDTH = re.compile(r"[\u4e00-\u9fff][:;,!?]|[\u4e00-\u9fff]\.(?!\w)")
UNSPACED = re.compile(r"[\u4e00-\u9fff][A-Za-z]|[A-Za-z][\u4e00-\u9fff]")


def page_texts(language: str) -> dict[str, str]:
    """Return the texts of all pages of the core and the plugins, by where each one is."""
    folders = [ROOT / "core/src", *sorted((ROOT / "plugins").glob("*/src"))]
    paths = [path for folder in folders for path in sorted(folder.glob("**/messages/*.toml"))]
    return {
        f"{path.relative_to(ROOT)}: {key}": text
        for path in paths
        if path.stem.rpartition(".")[2] == language
        for key, text in tomllib.loads(path.read_text()).items()
    }


def translated_texts() -> dict[str, str]:
    """Return the Chinese texts of errors and mails by the English ones."""
    path = Path(next(iter(translations.__path__))) / "zh.toml"
    return tomllib.loads(path.read_text())


def places(pattern: re.Pattern[str], texts: dict[str, str]) -> list[str]:
    return [f"{place}: {found[0]}" for place, text in texts.items() if (found := pattern.search(text))]


def test_english_pages_have_the_words_of_people() -> None:
    texts = page_texts("en")
    assert len(texts) > 1000
    assert places(ENGLISH, texts) == []


def test_mails_have_the_words_of_people() -> None:
    mails = {name: "\n".join(text.parts) for name, text in TEMPLATES.items()}
    assert places(ENGLISH, mails) == []


def test_chinese_texts_have_one_word_for_one_thing() -> None:
    texts = page_texts("zh")
    assert len(texts) > 1000
    assert places(CHINESE, texts | translated_texts()) == []


def test_chinese_texts_have_full_width_punctuation() -> None:
    assert places(HALF_WIDTH, page_texts("zh") | translated_texts()) == []


def test_chinese_texts_have_a_space_next_to_latin_words() -> None:
    assert places(UNSPACED, page_texts("zh") | translated_texts()) == []


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
