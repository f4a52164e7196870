"""Parses a fresh proof from request headers, for requests without a body."""

from typing import Any, Final
from urllib.parse import unquote

from flask import request

from strongroom.accounts.bindings import CODE_HEADER
from strongroom.accounts.reauthentication import Proof, ProofFields
from strongroom.plugin_api.login import VerificationCode
from strongroom.web.headers import header_pair

PASSWORD_HEADER: Final = "X-Current-Password"  # noqa: S105  the name of a header

PROOF_HEADERS: Final = ProofFields(CODE_HEADER, PASSWORD_HEADER)

PROOF_PARAMETERS: Final[list[dict[str, Any]]] = [
    {
        "name": CODE_HEADER,
        "in": "header",
        "required": False,
        "schema": {"type": "string"},
        "description": "`{id}.{code}` of a code sent to one of the user's contacts",
    },
    {
        "name": PASSWORD_HEADER,
        "in": "header",
        "required": False,
        "schema": {"type": "string"},
        "description": "The current password, percent-encoded UTF-8 (`encodeURIComponent`)",
    },
]


def proof_of_headers() -> Proof:
    """Return the proof in the headers of the current request.

    Raises:
        ValidationFailed: the code does not have the form ``{id}.{code}``.
    """
    # Clients percent-encode the password, because header values are limited to Latin-1.
    pair, password = header_pair(CODE_HEADER), request.headers.get(PASSWORD_HEADER)
    return Proof(
        VerificationCode(*pair) if pair else None, unquote(password) if password is not None else None
    )
