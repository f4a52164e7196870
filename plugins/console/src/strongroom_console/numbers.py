"""Numbers in forms and queries."""


def number_in(text: str, longest: int) -> int | None:
    """Return the number that a text is; ``None`` for another text, and for one with more digits.

    Args:
        longest: the most digits, because a number of millions of them takes long to read.
    """
    is_number = text.isascii() and text.isdigit() and len(text) <= longest
    return int(text) if is_number else None
