"""What happens if a name is taken: a choice of the request."""

from collections.abc import Mapping
from typing import Final

from strongroom.plugin_api.files import OnConflict

_RULES: Final[dict[str, OnConflict]] = {"fail": "fail", "rename": "rename", "replace": "replace"}


def requested_rule(values: Mapping[str, str]) -> OnConflict:
    """Return the rule that a query or form names; ``fail`` if it names none."""
    return _RULES.get(values.get("onConflict", ""), "fail")
