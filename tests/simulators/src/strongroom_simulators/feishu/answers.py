"""Responses of the platform: JSON in UTF-8 with the id of the log entry."""

import json
import secrets
from collections.abc import Mapping

from flask import Response

from strongroom_simulators.feishu.refusals import RATE_LIMITED, Refusal

LOG_ID = "X-Tt-Logid"


def answer(members: Mapping[str, object], status: int = 200) -> Response:
    """Return a response with the members that are not ``None``."""
    present = {name: value for name, value in members.items() if value is not None}
    body = json.dumps(present, ensure_ascii=False).encode()
    response = Response(body, status, content_type="application/json; charset=utf-8")
    response.headers[LOG_ID] = f"20261124{secrets.token_hex(12).upper()}"
    return response


def refuse(refusal: Refusal) -> Response:
    """Return an error response; those of the open platform repeat the id of the log entry."""
    response = answer(refusal.members, refusal.status)
    if "error" not in refusal.members:
        log_id = response.headers[LOG_ID]
        response.data = json.dumps({**refusal.members, "error": {"log_id": log_id}}).encode()
    if refusal.code == RATE_LIMITED:
        response.headers["x-ogw-ratelimit-reset"] = "60"
    return response
