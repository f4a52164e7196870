"""Cookies of the server alone: other hosts of its domain can neither read nor set them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask import Response
from werkzeug.http import parse_cookie


@dataclass(frozen=True, slots=True)
class HostCookie:
    """A cookie that scripts cannot read.

    Args:
        plain_name: its name without the prefix.
        is_secure: whether browsers reach the server by HTTPS.
    """

    plain_name: str
    is_secure: bool

    @property
    def name(self) -> str:
        """The name in requests and responses."""
        # The prefix prevents servers of sibling domains from setting the cookie (RFC 6265bis, 4.1.3.2).
        return f"__Host-{self.plain_name}" if self.is_secure else self.plain_name

    def read(self, environ: Mapping[str, Any]) -> str | None:
        """Return the value that a request sends, or ``None``."""
        return parse_cookie(environ.get("HTTP_COOKIE")).get(self.name)

    def write(self, response: Response, value: str, *, max_age: int | None = None) -> None:
        """Set the cookie.

        Args:
            max_age: the seconds that it lasts; ``None``: until the browser is closed.
        """
        response.set_cookie(
            self.name,
            value,
            max_age=max_age,
            secure=self.is_secure,
            httponly=True,
            # Not "Strict": links and redirects of other sites lead to pages that need the cookie.
            samesite="Lax",
        )
