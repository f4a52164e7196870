"""The form of texts that searches compare."""

import unicodedata


def fold_text(text: str) -> str:
    """Return the form of a text that searches compare: compatible characters and cases are equal."""
    # Folding the case of a normalized text may undo the normalization.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
