"""The form of a rule of claims, and how pages describe rules."""

from collections.abc import Mapping
from typing import Any, Final

from werkzeug.datastructures import MultiDict

from strongroom.plugin_api.page_forms import FieldNames
from strongroom_oidc_provider.claim_rules import (
    ACCESS_TOKEN,
    GROUP_SOURCE,
    ID_TOKEN,
    IDS,
    MAX_RULES,
    NAMES,
    SERVER_DATA,
    SERVER_ROLE,
    TENANT_ROLE,
)

_OF_TENANTS: Final = (GROUP_SOURCE, TENANT_ROLE)

SOURCES: Final = {
    GROUP_SOURCE: "claim-source-groups",
    TENANT_ROLE: "claim-source-roles",
    SERVER_ROLE: "claim-source-server-role",
    SERVER_DATA: "claim-source-data",
}
"""The keys of the names of the sources."""

VALUES: Final = {NAMES: "claim-names", IDS: "claim-ids"}
"""The keys of the names of the forms of values."""

PLACES: Final = {ID_TOKEN: "claim-in-id-token", ACCESS_TOKEN: "claim-in-access-token"}
"""The keys of the names of the tokens."""

_FIELDS: Final = {
    "name": "claimName",
    "source": "claimSource",
    "tenants": "claimTenant",
    "groups": "claimGroups",
    "field": "claimField",
    "form": "claimForm",
    "tokens": "claimTokens",
}

FIELD_NAMES: Final[FieldNames] = {"claims": ("claimName",)} | {
    f"claims.{number}.{member}": (name,)
    for number in range(MAX_RULES + 1)
    for member, name in _FIELDS.items()
}
"""The fields of the form by the fields of the REST API."""

Json = Mapping[str, Any]


def make_rule(form: MultiDict[str, str]) -> Json:
    """Return the rule of a form; fields of other sources are ignored."""
    source, tenant = form.get("claimSource", ""), form.get("claimTenant", "")
    has_tenants = source in _OF_TENANTS
    field = form.get("claimField", "").strip() or None
    return {
        "name": form.get("claimName", "").strip(),
        "source": source,
        "tenants": [tenant] if has_tenants and tenant else [],
        "groups": form.get("claimGroups", "").split() if source == GROUP_SOURCE else [],
        "field": field if source == SERVER_DATA else None,
        "form": form.get("claimForm", "") if has_tenants else IDS,
        "tokens": form.getlist("claimTokens"),
    }


def sentence_key(rule: Json) -> str:
    """Return the key of the sentence about a rule, with the names ``spaces`` and ``field``."""
    suffix = f"-{rule['form']}" if rule["source"] in _OF_TENANTS else ""
    return f"claim-{rule['source']}{suffix}"
