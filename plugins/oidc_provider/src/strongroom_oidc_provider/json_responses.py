"""Responses of endpoints that are documents of JSON, with a challenge (RFC 6750, section 3)."""

from collections.abc import Mapping

from flask import Response, json


def make_response(
    status: int, body: Mapping[str, object], challenge: str | None = None, *, stored: bool = True
) -> Response:
    """Return a response.

    Args:
        challenge: how the client authenticates; ``None``: the response does not ask for it.
        stored: whether a cache may keep it.
    """
    response = Response(json.dumps(body), status, mimetype="application/json")
    if challenge is not None:
        response.headers["WWW-Authenticate"] = challenge
    if not stored:
        response.headers["Cache-Control"] = "no-store"
    return response
