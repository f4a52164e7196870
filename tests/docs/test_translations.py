"""A page in Chinese follows its page in English: the same sections, blocks, images and links."""

import re
from pathlib import Path

import pytest
from tests.support.pages import blocks_of

ROOT = Path(__file__).parents[2]
TRANSLATED = ROOT / "docs" / "zh"
PAIRS = {ROOT / "README.zh.md": ROOT / "README.md"} | {
    page: ROOT / "docs" / page.relative_to(TRANSLATED) for page in TRANSLATED.glob("guides/*.md")
}
PAGES = pytest.mark.parametrize("page", PAIRS, ids=lambda page: str(page.relative_to(ROOT)))

FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#+) ", re.MULTILINE)
IMAGE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")
HALF_WIDTH = re.compile(r"[\u4e00-\u9fff][,;:!?()]|[,;:!?()][\u4e00-\u9fff]")
# A browser shows the end of a line as a blank.
BROKEN_LINE = re.compile(r"[\u3001-\u9fff\uff00-\uffef]\n *(?![-|#>!\d]|$)\S", re.MULTILINE)
CODE_OR_LINK = re.compile(r"`[^`]*`|\]\([^)]*\)")


def prose_of(page: Path) -> str:
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def headings(page: Path) -> list[str]:
    return HEADING.findall(prose_of(page))


def images(page: Path) -> list[Path]:
    return [(page.parent / target).resolve() for target in IMAGE.findall(prose_of(page))]


def rows(page: Path) -> int:
    """Return the number of lines of tables."""
    return sum(line.startswith("|") for line in prose_of(page).splitlines())


def code(page: Path) -> list[str]:
    """Return the blocks with a language. The map of the tree has none, and is in the original alone."""
    return [block.content for block in blocks_of(page) if block.language]


def test_guides_are_translated() -> None:
    assert len(PAIRS) >= 6
    assert [page for page in PAIRS.values() if not page.exists()] == []


@PAGES
def test_a_translation_has_the_blocks_of_its_page(page: Path) -> None:
    assert code(page) == code(PAIRS[page])


@PAGES
def test_a_translation_has_the_sections_tables_and_images_of_its_page(page: Path) -> None:
    original = PAIRS[page]
    assert headings(page) == headings(original)
    assert rows(page) == rows(original)
    assert images(page) == images(original)


@PAGES
def test_a_page_and_its_translation_link_to_each_other(page: Path) -> None:
    for source, target in ((page, PAIRS[page]), (PAIRS[page], page)):
        links = re.findall(r"\[(?:English|中文)\]\(([^)]+)\)", source.read_text(encoding="utf-8"))
        assert [(source.parent / link).resolve() for link in links] == [target]


@pytest.mark.parametrize("page", [*PAIRS, TRANSLATED / "index.md"], ids=lambda page: page.stem)
def test_chinese_prose_has_full_width_punctuation_and_no_blanks_at_line_ends(page: Path) -> None:
    lines = CODE_OR_LINK.sub("", prose_of(page)).splitlines()
    assert [line for line in lines if HALF_WIDTH.search(line)] == []
    assert BROKEN_LINE.findall(prose_of(page)) == []
