"""The retention of a tenant, and the holds in force."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import Visit, current_visit, is_form_error
from strongroom.plugin_api.web import ApiError, RestResponse
from strongroom_console.numbers import form_number
from strongroom_console.tenant.frame import page_path, tenant_page, tenant_path
from strongroom_console.tenant.member_list import named

retention: Final = Blueprint("retention", __name__, url_prefix="/tenants/<tenant_id>/retention")

NUMBERS: Final = {
    "trashDays": "trash-days",
    "keepVersions": "keep-versions",
    "versionDays": "version-days",
    "minimumDays": "minimum-days",
}
"""The keys of the names of the numbers of a rule, by their members in the REST API."""

EFFECTS: Final = {name: f"{key}-effect" for name, key in NUMBERS.items()}
"""The keys of what the numbers bring about, by their members in the REST API."""

MODES: Final = {"governance": "mode-governance", "compliance": "mode-compliance"}

_SECTION: Final = "retention/"
_HOLDS: Final = 20


@retention.get("/")
def show_retention(tenant_id: str) -> Any:
    """Show the rule, and the holds in force."""
    return _page(tenant_id)


@retention.post("/")
def set_retention(tenant_id: str) -> Any:
    """Set the rule, with a fresh proof."""
    visit = current_visit()
    response = visit.rest("PUT", tenant_path(tenant_id, "retention"), _request())
    if is_form_error(response):
        return _page(tenant_id, response)
    return visit.follow(response, page_path(tenant_id, "retention"), "retention-saved")


def _request() -> Mapping[str, Any]:
    numbers = {name: form_number(name) for name in NUMBERS}
    shortest = numbers["minimumDays"]
    return {
        **numbers,
        "minimumDays": 0 if shortest is None else shortest,
        "mode": request.form.get("mode", ""),
    }


def _page(tenant_id: str, refusal: RestResponse | None = None) -> Any:
    visit = current_visit()
    rule = visit.read(tenant_path(tenant_id, "retention"))
    holds = visit.read(tenant_path(tenant_id, "holds"), pageSize=_HOLDS, pageNumber=page_number())
    return tenant_page(
        visit,
        "tenant/retention.html",
        tenant_id,
        _SECTION,
        refusal=refusal,
        rule=rule,
        form=request.form if refusal is not None else rule,
        numbers=NUMBERS,
        effects=EFFECTS,
        modes=MODES,
        holds=_hold_rows(visit, tenant_id, holds),
        links=page_links(holds["meta"]),
    )


def _hold_rows(visit: Visit, tenant_id: str, page: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return [
        {
            **hold,
            "name": _name_of(visit, tenant_id, hold["fileId"]),
            "placer": named(hold["placedBy"], page["included"])["name"],
        }
        for hold in page["data"]
    ]


def _name_of(visit: Visit, tenant_id: str, file_id: str) -> str | None:
    """Return the name of a file or folder; ``None`` in the trash, or if the user does not see it."""
    try:
        return visit.host.files.stat(tenant_id, file_id).name
    except ApiError:
        return None
