"""Cookies of visitors, each bound to one share by its name."""

import hashlib
import re
from dataclasses import dataclass
from typing import Any, Final

from flask import request
from werkzeug.http import dump_cookie

from strongroom.plugin_api.host import HostAPI

_MAX_LENGTH: Final = 1024
_VALUE: Final = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+")


@dataclass(slots=True, eq=False, repr=False)
class Cookies:
    """Reads and sets the cookies of visitors."""

    _host: HostAPI

    def get(self, kind: str, link_id: str) -> str | None:
        """Return the value of a cookie of the current request."""
        value = request.cookies.get(self._name(kind, link_id), "")
        return value if len(value) <= _MAX_LENGTH and _VALUE.fullmatch(value) else None

    def hashed(self, kind: str, link_id: str) -> str | None:
        """Return the SHA-256 of a cookie's value, as stored."""
        value = self.get(kind, link_id)
        return None if value is None else hashlib.sha256(value.encode()).hexdigest()

    def set_cookie_header(self, kind: str, link_id: str, value: str, seconds: int) -> str:
        """Return the header ``Set-Cookie``. Scripts cannot read the cookie."""
        return dump_cookie(
            self._name(kind, link_id),
            value,
            max_age=seconds,
            path="/",
            secure=self._is_secure,
            httponly=True,
            # Not "Strict": the link in a mail is a cross-site navigation.
            samesite="Lax",
        )

    def set(self, response: Any, kind: str, link_id: str, value: str, seconds: int) -> None:
        """Add a cookie to a Flask response."""
        response.headers.add("Set-Cookie", self.set_cookie_header(kind, link_id, value, seconds))

    @property
    def _is_secure(self) -> bool:
        return self._host.public_url.startswith("https:")

    def _name(self, kind: str, link_id: str) -> str:
        # The prefix prevents servers of sibling domains from setting the cookie (RFC 6265bis, 4.1.3.2).
        return f"{'__Host-' if self._is_secure else ''}{kind}-{link_id}"
