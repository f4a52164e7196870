"""Names that clients choose themselves."""

from typing import Final

_MAX: Final = 60


def read_name(value: object) -> str | None:
    """Return the ``client_name`` of a document or a registration; ``None`` if it is not acceptable."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        return None
    return value.strip()[:_MAX]
