"""Request hooks and helpers: request ids, client addresses and the headers of all responses."""

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Final

from flask import Flask, Response, g, request

from strongroom.addresses import canonical_address, parse_address
from strongroom.errors import NotFound
from strongroom.identity import Origin
from strongroom.plugin_api.login import Client
from strongroom.web.components import use

SHARED_HEADERS: Final = {"X-Content-Type-Options": "nosniff"}
"""The headers of every response, in addition to X-Request-Id."""

NO_STORE: Final = "no-store"
"""The default Cache-Control of responses to requests with a token."""

FAILURE: Final = "strongroom.failure"
"""The WSGI environ key of an exception that was raised before Flask got the request."""

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def register_request_hooks(app: Flask) -> None:
    """Assign an id to each request, and add the shared headers to each response."""
    app.before_request(_begin)
    app.after_request(_finish)


@dataclass(frozen=True, slots=True)
class TrustedProxies:
    """The networks of the proxies whose X-Forwarded-For is trusted."""

    networks: tuple[Network, ...]


def client() -> Client:
    """Return the client of the request. No other code may read the client's address."""
    return Client(
        address=address_of(request.environ.get, use(TrustedProxies).networks),
        # Truncated, because both are stored in rows.
        user_agent=request.headers.get("User-Agent", "")[:512],
        device_id=(request.headers.get("X-Device-Id") or "")[:128] or None,
    )


def origin() -> Origin:
    """Return the origin of the request, for audit records."""
    sender = client()
    return Origin(sender.address, sender.user_agent, g.request_id, languages())


def request_id_for(offered: str) -> str:
    """Return the id that a client sent if it is valid, otherwise a new one."""
    return offered if _REQUEST_ID.fullmatch(offered) else token_hex(16)


@dataclass(frozen=True, slots=True)
class PublicUrl:
    """The public scheme, host and port of the server, as configured."""

    root: str


def languages() -> tuple[str, ...]:
    """Return the client's languages by descending preference (RFC 9110, section 12.5.4)."""
    return tuple(language for language, quality in request.accept_languages if quality > 0)


def _begin() -> None:
    g.request_id = request_id_for(request.headers.get("X-Request-Id", ""))
    if FAILURE in request.environ:
        raise request.environ[FAILURE]
    # NUL is never valid in a path, and PostgreSQL rejects it. Werkzeug ignores repeated leading slashes.
    if "\0" in request.path or request.path.startswith("//"):
        raise NotFound


def _finish(response: Response) -> Response:
    headers = response.headers
    headers["X-Request-Id"] = g.request_id
    headers.update(SHARED_HEADERS)
    if "Cache-Control" not in headers and (request.method != "GET" or _carries_token()):
        headers["Cache-Control"] = NO_STORE
    return response


def _carries_token() -> bool:
    return "Authorization" in request.headers or "X-Access-Token" in request.headers


def address_of(header: Callable[[str], str | None], trusted: Sequence[Network]) -> str:
    """Return the client's canonical address: the last hop that is not a trusted proxy."""
    peer = canonical_address(header("REMOTE_ADDR") or "")
    forwarded = header("HTTP_X_FORWARDED_FOR") or ""
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    # From right to left: each proxy appends its peer, so entries left of an untrusted hop may be forged.
    while hops and _is_within(peer, trusted) and parse_address(hops[-1]) is not None:
        peer = canonical_address(hops.pop())
    return peer


def _is_within(text: str, networks: Sequence[Network]) -> bool:
    address = parse_address(text)
    return address is not None and any(address in network for network in networks)
