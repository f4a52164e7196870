"""The applications of pages that a server has mounted."""

from typing import Any


def pages_of(application: Any) -> Any:
    """Return the application of pages behind a mounted one; another application as it is."""
    owner = getattr(application, "__self__", application)
    return getattr(owner, "pages", owner)
