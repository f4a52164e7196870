"""How the platform answers: JSON with status 200, in UTF-8, under a type that says neither."""

import json
from collections.abc import Mapping
from typing import Final

from flask import Response

from strongroom_login_wechat.simulator.refusals import Refusal

CONTENT_TYPE: Final = "text/plain"


def answer(members: Mapping[str, object]) -> Response:
    """Return the members that are not ``None`` as the platform sends them."""
    present = {name: value for name, value in members.items() if value is not None}
    return Response(json.dumps(present, ensure_ascii=False).encode(), content_type=CONTENT_TYPE)


def refuse(refusal: Refusal) -> Response:
    """Return a refusal as the platform sends it: with status 200."""
    return answer({"errcode": refusal.errcode, "errmsg": str(refusal)})
