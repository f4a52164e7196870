"""Policies of caches: the values of ``Cache-Control`` (RFC 9111, section 5.2.2).

The application adds :data:`DEFAULT_POLICY` to each response without a policy. A route sets one only if
caches may store its responses, or if it must replace another policy.
"""

from typing import Final

CACHE_CONTROL: Final = "Cache-Control"

NO_STORE: Final = "no-store"
PRIVATE_NO_STORE: Final = "private, no-store"
REVALIDATED: Final = "no-cache"
"""A cache may store the response, and must ask the server before each use."""
PRIVATE_REVALIDATED: Final = "private, no-cache"
"""The same for the cache of one browser only."""

DEFAULT_POLICY: Final = (CACHE_CONTROL, NO_STORE)
"""The header of each response whose route has set no policy."""

DAY: Final = 24 * 60 * 60
_YEAR: Final = 365 * DAY


def public(seconds: int) -> str:
    """Return the policy of a response that is the same for all clients, for a time in seconds."""
    return f"public, max-age={seconds}"


def immutable(*, is_public: bool) -> str:
    """Return the policy of content that never changes under its URL."""
    return f"{'public' if is_public else 'private'}, max-age={_YEAR}, immutable"
