"""What a tenant uses of its quota, and the quota, which administrators of the server set."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.file_pages import size_text
from strongroom.plugin_api.visits import current_visit
from strongroom_console.tenant.frame import page_path, tenant_page, tenant_path

usage: Final = Blueprint("usage", __name__, url_prefix="/tenants/<tenant_id>/usage")

UNITS: Final = {"MB": 10**6, "GB": 10**9, "TB": 10**12}
"""The bytes of the units of the form."""

PARTS: Final = {
    "live": ("part-live", "liveBytes"),
    "trash": ("part-trash", "trashBytes"),
    "versions": ("part-versions", "versionBytes"),
    "reserved": ("part-reserved", "reservedBytes"),
}
"""The key of the name of each part of the bar, and its member of a ``Usage`` in the REST API."""


@usage.get("/")
def show_usage(tenant_id: str) -> Any:
    """Show the usage as a bar with its parts."""
    visit = current_visit()
    numbers = visit.read(tenant_path(tenant_id, "usage"))
    quota = numbers["quotaBytes"]
    return tenant_page(
        visit,
        "tenant/usage.html",
        tenant_id,
        "usage/",
        parts=parts_of(numbers),
        used=size_text(numbers["usedBytes"]),
        held=size_text(numbers["heldBytes"]) if numbers["heldBytes"] else None,
        quota=None if quota is None else size_text(quota),
        free=None if quota is None else size_text(max(0, numbers["freeBytes"])),
        form=quota_form(quota),
        units=UNITS,
    )


@usage.post("/quota")
def set_quota(tenant_id: str) -> Any:
    """Set the quota, as an administrator of the server."""
    visit = current_visit()
    body = {"quotaBytes": bytes_of_form()}
    response = visit.rest("PATCH", tenant_path(tenant_id), body)
    return visit.follow(response, page_path(tenant_id, "usage"), "quota-saved")


def parts_of(numbers: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the parts of the bar: their sizes, and where they begin and end in per mille."""
    whole = max(sum(numbers[member] for _, member in PARTS.values()), numbers["quotaBytes"] or 0, 1)
    parts, start = [], 0
    for name, (key, member) in PARTS.items():
        size = numbers[member]
        # What is there is seen, however small it is.
        width = max(size * 1000 // whole, 4 if size else 0)
        parts.append({"name": name, "key": key, "size": size_text(size), "start": start, "width": width})
        start += width
    return parts


def quota_form(quota: int | None) -> Mapping[str, str]:
    """Return the fields of a quota: the largest unit that divides it."""
    if quota is None:
        return {"quota": "", "unit": "GB"}
    fitting = [unit for unit, size in UNITS.items() if quota % size == 0] if quota else ["GB"]
    unit = fitting[-1] if fitting else "MB"
    number = (Decimal(quota) / UNITS[unit]).normalize()
    return {"quota": f"{number:f}", "unit": unit}


def bytes_of_form() -> int | str | None:
    """Return the quota of the form; ``None`` for the default. The REST API refuses other texts."""
    text = request.form.get("quota", "").strip()
    if not _NUMBER.fullmatch(text):
        return text or None
    return int(Decimal(text) * UNITS.get(request.form.get("unit", ""), 1))


# An exponent could make a number of a million digits.
_NUMBER: Final = re.compile(r"\d{1,15}(?:\.\d{1,15})?", re.ASCII)
