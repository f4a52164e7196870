"""What happens if the name of an upload is taken: a choice in the query."""

from typing import Final

from flask import request

from strongroom.plugin_api.files import OnConflict

_RULES: Final[dict[str, OnConflict]] = {"fail": "fail", "rename": "rename", "replace": "replace"}


def requested_rule() -> OnConflict:
    """Return the rule that the request names; ``fail`` if it names none."""
    return _RULES.get(request.args.get("onConflict", ""), "fail")
