"""Code, docs and messages name the actor: a user, a caller, a client, a node."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from strongroom.activity.notifications.templates import TEMPLATES

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
    r"""(?<!["'`.@:/\w-])\b(whoever|nobody|somebody|anybody|anew|whom|told|for ever)\b(?!["'`@:])""",
    re.IGNORECASE,
)
VALUES = {"plugins/share_links/src/strongroom_share_links/options.py": 1}
"""How many times a file names a value without quotes."""


FORMER = {
    "CHANGELOG.md",
    "core/src/strongroom/foundation/plugins/api_changes.py",
    "docs/contributing/from-1.2-to-2.0.md",
}
"""They name what plugin API 1.2 called `admits`."""
ADMIT = re.compile("admit", re.IGNORECASE)


def avoided(path: Path, pattern: re.Pattern[str] = AVOIDED) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if pattern.search(line)]


@pytest.mark.parametrize("text", ["Whoever finds a key", "told apart", "so that nobody sees it"])
def test_words_without_an_actor_are_recognized(text: str) -> None:
    assert AVOIDED.search(text)


def test_no_text_uses_a_word_without_an_actor() -> None:
    assert len(TEXTS) > 500
    found = {str(path.relative_to(ROOT)): avoided(path) for path in TEXTS if "_build" not in path.parts}
    assert {path: lines for path, lines in found.items() if len(lines) > VALUES.get(path, 0)} == {}


PRONOUNS = re.compile(r"\b(?:that|those)\s+(?:#\s+)?of\b", re.IGNORECASE)
PRONOUNS_AT_MOST = {"core/src": 0, "plugins": 3}
"""How often a source may say "that of" or "those of" instead of the noun."""
SUFFIXES = {".py", ".toml", ".html", ".js", ".css", ".template", ".conf"}


def pronouns(folder: str) -> list[str]:
    paths = [path for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    sources = [path for path in paths if "src" in path.relative_to(ROOT).parts]
    assert len(sources) > 200
    return [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in sources
        for found in PRONOUNS.finditer(path.read_text(encoding="utf-8"))
    ]


def test_pronouns_in_place_of_nouns_are_recognized_across_lines_of_a_comment() -> None:
    assert [found[0] for found in PRONOUNS.finditer("# Those\n# of the core. that of x, part of")] == [
        "Those\n# of",
        "that of",
    ]


@pytest.mark.parametrize("folder", PRONOUNS_AT_MOST)
def test_sources_repeat_the_noun_instead_of_a_pronoun(folder: str) -> None:
    found = pronouns(folder)
    assert len(found) <= PRONOUNS_AT_MOST[folder], found


def test_routes_and_callers_accept_and_nothing_admits() -> None:
    found = {
        str(path.relative_to(ROOT)): avoided(path, ADMIT) for path in TEXTS if "_build" not in path.parts
    }
    assert {path for path, lines in found.items() if lines} <= FORMER


SOURCES = [*ROOT.glob("core/src/**/*.py"), *ROOT.glob("plugins/*/src/**/*.py")]
REPLACED = {"Lingering", "complaints", "is_aside", "keeping", "make_room", "step_aside"}
"""Former names of the services of files, the faults of a password and the states of a request."""
PARTICIPLES = {
    "found": 36,
    "wanted": 20,
    "held": 140,
    "shown": 152,
    "known": 172,
    "own": 132,
    "named": 140,
    "begun": 84,
    "others": 84,
    "taken": 83,
    "ended": 100,
}
"""How often a variable has the name at most; a noun says what the value is."""


def names_in(source: str) -> list[str]:
    """Return the names of variables, parameters, attributes and definitions of a module."""
    nodes = list(ast.walk(ast.parse(source)))
    names = [node.id for node in nodes if isinstance(node, ast.Name)]
    names += [node.arg for node in nodes if isinstance(node, ast.arg)]
    names += [node.attr for node in nodes if isinstance(node, ast.Attribute)]
    return names + [
        node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]


@pytest.fixture(scope="module")
def names() -> Counter[str]:
    return Counter(name for path in SOURCES for name in names_in(path.read_text(encoding="utf-8")))


def test_names_of_variables_parameters_attributes_and_definitions_are_counted() -> None:
    source = "def keeping(wanted): found = wanted.held"
    assert Counter(names_in(source)) == {"keeping": 1, "wanted": 2, "found": 1, "held": 1}


def test_no_module_uses_a_replaced_name(names: Counter[str]) -> None:
    assert names["connection"] > 1000
    assert {name.lstrip("_") for name in names} & REPLACED == set()


@pytest.mark.parametrize("name", PARTICIPLES)
def test_no_further_variable_is_named_by_a_participle(names: Counter[str], name: str) -> None:
    assert names[name] <= PARTICIPLES[name]


FUNCTIONS_AT_MOST = {"core": 0, "plugins": 37}
"""How many functions may be called ``of`` or ``x_of`` instead of ``get_x``, ``find_x`` or ``from_x``."""


@pytest.mark.parametrize("folder", FUNCTIONS_AT_MOST)
def test_no_further_function_is_named_by_a_preposition(folder: str) -> None:
    functions = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in SOURCES
        if path.relative_to(ROOT).parts[0] == folder
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and re.fullmatch(r"(.*_)?of", node.name)
        and re.fullmatch(r"(.*_)?of", node.name)
    ]
    assert len(functions) <= FUNCTIONS_AT_MOST[folder], functions


# Not placeholders such as "$tenant" and "{tenantId}".
TENANT = re.compile(r"(?<![${/\w])tenants?\b|租户", re.IGNORECASE)
GUIDES_OF_PEOPLE = [
    f"{folder}guides/{name}.md" for folder in ("", "zh/") for name in ("console", "account-pages")
]
DEFINITION = re.compile(r"A space is a tenant of the REST API|空间就是 REST API 中的租户")


def test_the_glossary_says_where_a_tenant_is_called_a_space() -> None:
    rows = (ROOT / "docs/glossary.md").read_text(encoding="utf-8").splitlines()
    (row,) = (row for row in rows if row.startswith("| tenant |"))
    assert "`space` (空间) in pages, mails and the guides of people" in row


def test_mails_speak_of_spaces() -> None:
    assert TENANT.search("Invitation to a tenant")
    assert "$tenant" in repr(TEMPLATES["invitation"])
    assert [name for name, text in TEMPLATES.items() if TENANT.search(repr(text))] == []


@pytest.mark.parametrize("name", GUIDES_OF_PEOPLE)
def test_guides_of_people_speak_of_spaces(name: str) -> None:
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert "space" in text or "空间" in text
    assert TENANT.findall(DEFINITION.sub("", text)) == []
