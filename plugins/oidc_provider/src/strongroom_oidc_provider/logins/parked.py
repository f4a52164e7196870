"""A request for an authorization while its user logs in: sealed in the browser, so no row is stored."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from flask import request
from werkzeug.http import dump_cookie

from strongroom.plugin_api.host import HostAPI
from strongroom_oidc_provider.logins.browser_requests import get_base_path, redirect_exactly

ROOT: Final = "/oauth2/authorize"
CLIENT: Final = "client"
"""The parameter of the path with the client, whose brand the login shows; the request is sealed."""

SECONDS: Final = 60 * 60
"""How long a user may take to log in and to consent."""

MAX_SEALED: Final = 3500
"""The longest sealed request, in characters: a browser keeps at most 4096 bytes of a cookie."""

_ID_BYTES: Final = 9


@dataclass(slots=True, eq=False, repr=False)
class ParkedRequests:
    """Seals requests, and keeps them in cookies that only their own path receives.

    So requests of several tabs are independent, and pages get none of them, however many there are.
    """

    _host: HostAPI

    def seal(self, parameters: Mapping[str, Any], arrived_at: int) -> str:
        """Return a request as a text that only this server can read."""
        return self._host.secrets.seal(json.dumps({"at": arrived_at, **parameters}))

    def unseal(self, sealed: str) -> tuple[dict[str, Any], int] | None:
        """Return a request with the time of its arrival; ``None`` if it is none or too old."""
        try:
            parameters: dict[str, Any] = json.loads(self._host.secrets.unseal(sealed))
        except ValueError:
            return None
        arrived_at: int = parameters.pop("at")
        return (parameters, arrived_at) if self._host.clock.now() - arrived_at < SECONDS * 1000 else None

    def park(self, sealed: str, client_id: str) -> Any:
        """Return the redirect that keeps a request of a client in the browser and continues it."""
        path = f"{get_base_path(self._host)}{ROOT}/{secrets.token_urlsafe(_ID_BYTES)}"
        response = redirect_exactly(f"{path}?{urlencode({CLIENT: client_id})}")
        cookie = dump_cookie(
            self._name,
            sealed,
            max_age=SECONDS,
            path=path,
            secure=self._is_secure,
            httponly=True,
            samesite="Lax",
        )
        response.headers.add("Set-Cookie", cookie)
        return response

    def get(self) -> str | None:
        """Return the sealed request of the current path."""
        sealed = request.cookies.get(self._name, "")
        return sealed if 0 < len(sealed) <= MAX_SEALED else None

    @property
    def _is_secure(self) -> bool:
        return self._host.public_url.startswith("https:")

    @property
    def _name(self) -> str:
        # Not "__Host-", which requires the path "/".
        return f"{'__Secure-' if self._is_secure else ''}oidc-request"
