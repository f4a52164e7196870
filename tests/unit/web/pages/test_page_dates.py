"""Days in the words of a language."""

import pytest

from strongroom.web.pages.page_dates import worded_date


@pytest.mark.parametrize(
    ("day", "language", "words"),
    [
        ("2026-06-01", "en", "Jun 1, 2026"),
        ("2026-12-31", "en", "Dec 31, 2026"),
        ("2026-06-01", "zh", "2026年6月1日"),
        ("2026-01-31", "zh", "2026年1月31日"),
    ],
)
def test_a_day_is_in_the_words_of_the_language(day: str, language: str, words: str) -> None:
    assert worded_date(day, language) == words
