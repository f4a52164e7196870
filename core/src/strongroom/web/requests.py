"""What is settled for every request before a view sees it, and for every answer after."""

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
"""What every answer says, besides the id of its request."""

NO_STORE: Final = "no-store"
"""How answers are cached that were asked for with a token, unless they say otherwise."""

FAILURE: Final = "strongroom.failure"
"""The name under which WSGI's environment holds what ended a request before Flask saw it."""

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def register_request_hooks(app: Flask) -> None:
    """Give each request an id, and each answer the headers that all answers have."""
    app.before_request(_begin)
    app.after_request(_finish)


@dataclass(frozen=True, slots=True)
class TrustedProxies:
    """The networks of the proxies whose X-Forwarded-For is believed."""

    networks: tuple[Network, ...]


def client() -> Client:
    """Return where the request comes from: the only place that reads a client's address."""
    return Client(
        address=address_of(request.environ.get, use(TrustedProxies).networks),
        user_agent=request.headers.get("User-Agent", "")[:512],
        device_id=(request.headers.get("X-Device-Id") or "")[:128] or None,
    )


def origin() -> Origin:
    """Return where the request comes from, as a record tells it."""
    sender = client()
    return Origin(sender.address, sender.user_agent, g.request_id, languages())


def request_id_for(offered: str) -> str:
    """Return the id that a request offers, if it may be one, or else a new one."""
    return offered if _REQUEST_ID.fullmatch(offered) else token_hex(16)


@dataclass(frozen=True, slots=True)
class PublicUrl:
    """The scheme, host and port that clients reach the server by, as configured."""

    root: str


def languages() -> tuple[str, ...]:
    """Return the languages that the client accepts (RFC 9110, section 12.5.4), the best first."""
    return tuple(language for language, quality in request.accept_languages if quality > 0)


def _begin() -> None:
    g.request_id = request_id_for(request.headers.get("X-Request-Id", ""))
    if FAILURE in request.environ:
        raise request.environ[FAILURE]
    # No id and no name holds it, and not every database takes it for text.
    # Werkzeug ignores leading slashes.
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
    """Return the last address that was not merely forwarded by a trusted proxy, canonically spelled."""
    peer = canonical_address(header("REMOTE_ADDR") or "")
    forwarded = header("HTTP_X_FORWARDED_FOR") or ""
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    while hops and _is_within(peer, trusted) and parse_address(hops[-1]) is not None:
        peer = canonical_address(hops.pop())
    return peer


def _is_within(text: str, networks: Sequence[Network]) -> bool:
    address = parse_address(text)
    return address is not None and any(address in network for network in networks)
