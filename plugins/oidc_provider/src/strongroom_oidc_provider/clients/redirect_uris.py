"""Redirect URIs of clients: which ones a client may have, and which one a request names.

A request names a URI of its client exactly (RFC 9700, section 4.1.3). Nothing is normalized or compared
by its beginning. Only the port of a loopback URI of a public client is free, because a native app
listens on any free one (RFC 8252, section 7.3).
"""

import re
from collections.abc import Sequence
from typing import Final

from strongroom.plugin_api.browser import loopback_redirect

MAX_LENGTH: Final = 512
"""The longest redirect URI, in characters."""

_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_PORT: Final = r"(?::[0-9]{1,5})?"
# Unreserved characters, percent-escapes, and delimiters but the wildcard (RFC 3986, section 3.3).
_CHARACTER: Final = r"(?:[A-Za-z0-9._~!$&'()+,;=:@-]|%[0-9A-Fa-f]{2})"
_PATH: Final = rf"(?P<path>(?:/{_CHARACTER}*)*)(?:\?(?:{_CHARACTER}|[/?])*)?"
_HTTPS: Final = re.compile(
    rf"https://(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9A-Fa-f:.]{{2,45}}\]){_PORT}{_PATH}"
)
_LOOPBACK: Final = re.compile(rf"http://(?:127\.0\.0\.1|\[::1\]|localhost){_PORT}{_PATH}")
# A private-use scheme is a domain name of the app's maker in reverse order (RFC 8252, section 7.1).
_PRIVATE: Final = re.compile(rf"[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+:(?://[A-Za-z0-9.-]*)?{_PATH}")
_DOT_SEGMENT: Final = re.compile(r"(?:\.|%2[Ee]){1,2}(?:;.*)?")


def find_fault(uri: str, *, is_public: bool) -> str | None:
    """Return why a client may not have a redirect URI; ``None`` if it may."""
    if len(uri) > MAX_LENGTH:
        return f"Must have at most {MAX_LENGTH} characters."
    if match := _HTTPS.fullmatch(uri) or _LOOPBACK.fullmatch(uri):
        fault = "The path must not have dot segments."
        return fault if has_dot_segment(match["path"]) else None
    if match := _PRIVATE.fullmatch(uri):
        return None if is_public else "Only a public client may have a private-use scheme."
    return "Must be an https URL, a loopback URL, or a URI of a scheme such as com.example.app."


def find_registered(uri: str, registered: Sequence[str], *, is_public: bool) -> str | None:
    """Return the redirect URI of a client that a request names; ``None`` if it names none."""
    if uri in registered:
        return uri
    without_port = loopback_redirect(uri) if is_public and len(uri) <= MAX_LENGTH else None
    if without_port is None:
        return None
    return next((each for each in registered if loopback_redirect(each) == without_port), None)


def has_dot_segment(path: str) -> bool:
    """Return whether a path has a segment that parsers may resolve."""
    return any(_DOT_SEGMENT.fullmatch(segment) for segment in path.split("/"))
