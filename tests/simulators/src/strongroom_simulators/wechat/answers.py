"""Responses of the platform: JSON in UTF-8 with status 200, labelled as ``text/plain``."""

import json
from collections.abc import Mapping
from typing import Final

from flask import Response

from strongroom_simulators.wechat.refusals import Refusal

CONTENT_TYPE: Final = "text/plain"


def answer(members: Mapping[str, object]) -> Response:
    """Return a response with the members that are not ``None``."""
    present = {name: value for name, value in members.items() if value is not None}
    return Response(json.dumps(present, ensure_ascii=False).encode(), content_type=CONTENT_TYPE)


def refuse(refusal: Refusal) -> Response:
    """Return an error response, which has status 200 like any other."""
    return answer({"errcode": refusal.errcode, "errmsg": str(refusal)})
