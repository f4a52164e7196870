"""Proofs that a visitor knows the password of a share.

A proof is a sealed text in a header or a cookie, never in a URL. It names the share and its present
password hash, so that it is void for other shares and after the password was changed.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import request

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_share_links.cookies import Cookies
from strongroom_share_links.errors import PASSWORD_WRONG
from strongroom_share_links.models import Link

HEADER: Final = "X-Share-Proof"
ISSUED: Final = {HEADER: "The proof that the password is known, for 15 minutes."}
SENT: Final = {HEADER: "The proof of the password, instead of the cookie."}
LIFETIME: Final = 15 * 60
"""The lifetime of a proof in seconds."""

_PER_ADDRESS: Final = 10
_PER_LINK: Final = 50
_WINDOW: Final = 60 * 60
_NAME: Final = "passwords"
MAX_LENGTH: Final = 1024
"""The longest password."""


@dataclass(slots=True, eq=False, repr=False)
class Proofs:
    """Issues and checks proofs."""

    _host: HostAPI
    _cookies: Cookies

    def is_proven(self, link: Link) -> bool:
        """Return whether the share has no password, or the current request proves that it is known."""
        if link.password_hash is None:
            return True
        sent = (request.headers.get(HEADER), self._cookies.get("share", link.id))
        return any(self._is_valid(link, value) for value in sent if value)

    def issue(self, link: Link, password: str, captcha: Mapping[str, str] | None) -> str:
        """Return a proof for the right password.

        Raises:
            ApiError: the password is wrong, or a captcha is required after too many wrong ones.
        """
        if link.password_hash is None:
            return self._sealed(link)
        per_address, per_link = f"{link.id}:{self._host.limits.client_network}", link.id
        # Counted before the check, so that parallel attempts cannot exceed the limits.
        limits = [(per_address, _PER_ADDRESS), (per_link, _PER_LINK)]
        is_counted = self._host.limits.count_attempt(_NAME, limits, seconds=_WINDOW)
        if not is_counted:
            self._host.limits.require_captcha(captcha)
        is_right = len(password) <= MAX_LENGTH and self._host.secrets.verify_password(
            password, link.password_hash
        )
        if not is_right:
            raise ApiError(PASSWORD_WRONG)
        if is_counted:
            self._host.limits.forgive_attempt(_NAME, [per_address, per_link])
        return self._sealed(link)

    def remember(self, response: Any, link: Link, proof: str) -> None:
        """Set the cookie with a proof."""
        self._cookies.set(response, "share", link.id, proof, LIFETIME)

    def _sealed(self, link: Link) -> str:
        ends_at = self._host.clock.now() + LIFETIME * 1000
        return self._host.secrets.seal(f"proof {link.id} {_password_of(link)} {ends_at}")

    def _is_valid(self, link: Link, sealed: str) -> bool:
        try:
            purpose, link_id, password, ends_at = self._host.secrets.unseal(sealed).split(" ")
        except ValueError:
            return False
        is_current = hmac.compare_digest(password, _password_of(link))
        is_for_link = (purpose, link_id) == ("proof", link.id)
        return is_for_link and is_current and int(ends_at) > self._host.clock.now()


def _password_of(link: Link) -> str:
    return hashlib.sha256((link.password_hash or "").encode()).hexdigest()
