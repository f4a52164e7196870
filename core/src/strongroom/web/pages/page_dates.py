"""Days in the words of a language."""

from functools import lru_cache

from strongroom.web.pages.design import TEXTS


# Pages of one folder are opened again and again, and have the same days.
@lru_cache(maxsize=4096)
def worded_date(day: str, language: str) -> str:
    """Return a day of ISO 8601 in the words of a language, as ``Jun 21, 2026``."""
    text = TEXTS.translator(language)
    year, month, number = day.split("-")
    return text("date-words", year=year, month=text("months").split()[int(month) - 1], day=int(number))
