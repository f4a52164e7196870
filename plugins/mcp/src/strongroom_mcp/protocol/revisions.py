"""Revisions of the protocol: one without a handshake, and older ones that begin with ``initialize``.

Requests of the stateless revision name it, the client and its capabilities in ``_meta``. Clients of the
older revisions send ``initialize`` first, and the revision in a header afterwards. Nothing is remembered
of ``initialize``, so that the following requests may reach other processes.
"""

from collections.abc import Mapping
from typing import Final

from strongroom_mcp.protocol.headers import METHOD, NAME, VERSION, decode_value
from strongroom_mcp.protocol.messages import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    UNSUPPORTED_VERSION,
    Message,
    ProtocolError,
)

STATELESS: Final = "2026-07-28"
HANDSHAKE: Final = ("2025-11-25", "2025-06-18")
"""The revisions with ``initialize``, the newest first."""
SUPPORTED: Final = (STATELESS, *HANDSHAKE)

_PREFIX: Final = "io.modelcontextprotocol/"
VERSION_KEY: Final = f"{_PREFIX}protocolVersion"
CAPABILITIES_KEY: Final = f"{_PREFIX}clientCapabilities"
CLIENT_KEY: Final = f"{_PREFIX}clientInfo"
SERVER_KEY: Final = f"{_PREFIX}serverInfo"

_NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that the header ``Mcp-Name`` repeats, by method."""


def find_revision(message: Message, headers: Mapping[str, str]) -> str:
    """Return the revision of a message.

    Args:
        headers: the headers of the request, with names in lower case.

    Raises:
        ProtocolError: the revision is unknown, or members or headers are missing or contradict.
    """
    header, member = headers.get(VERSION), message.meta.get(VERSION_KEY)
    if message.id is None or (member is None and header != STATELESS):
        return _find_by_header(header)
    _require_envelope(message)
    _require_headers(message, headers)
    if member != STATELESS:
        raise _unsupported(str(member))
    return STATELESS


def negotiate(requested: object) -> str:
    """Return the revision of a handshake: the requested one, or else the newest with a handshake."""
    return requested if isinstance(requested, str) and requested in HANDSHAKE else HANDSHAKE[0]


def _find_by_header(header: str | None) -> str:
    if header is None:
        # The first request of a handshake has no header, and the oldest clients never send one.
        return HANDSHAKE[-1]
    if header not in SUPPORTED:
        raise _unsupported(header)
    return header


def _require_envelope(message: Message) -> None:
    meta = message.meta
    if not isinstance(meta.get(VERSION_KEY), str) or not isinstance(meta.get(CAPABILITIES_KEY), dict):
        fault = f"params._meta must have {VERSION_KEY} (text) and {CAPABILITIES_KEY} (object)."
        raise ProtocolError(INVALID_PARAMS, fault)


def _require_headers(message: Message, headers: Mapping[str, str]) -> None:
    _require_equal("MCP-Protocol-Version", headers.get(VERSION), message.meta[VERSION_KEY])
    _require_equal("Mcp-Method", headers.get(METHOD), message.method)
    name = message.params.get(_NAMED_BY.get(message.method, ""))
    if name is not None:
        _require_equal("Mcp-Name", decode_value(headers.get(NAME)), name)


def _require_equal(header: str, value: str | None, expected: object) -> None:
    if value != expected:
        raise ProtocolError(HEADER_MISMATCH, f"The header {header} must equal the value in the body.")


def _unsupported(requested: str) -> ProtocolError:
    data = {"supported": [*SUPPORTED], "requested": requested}
    return ProtocolError(UNSUPPORTED_VERSION, "The server does not have this revision.", data)
