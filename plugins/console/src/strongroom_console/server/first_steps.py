"""The first steps of a new server: what its administrator should do, and whether it is done."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from strongroom.plugin_api.server import ServerFindings, ServerInfo, ServerSetting
from strongroom.plugin_api.visits import Visit

_DISMISSED: Final = "first-steps-dismissed"
_DEVELOPMENT_SENDER: Final = "console"


@dataclass(frozen=True, slots=True)
class FirstStep:
    """A step.

    Args:
        name: the key of its text; the key of its explanation has the suffix ``-hint``.
        setting: the key of the configuration to set, if it is not done by pages.
        path: the page that does or shows it, below the path of the console.
    """

    name: str
    is_done: bool
    setting: str | None
    path: str


STEP_NAMES: Final = ("step-brand", "step-sender", "step-storage", "step-space", "step-people")
"""The keys of the texts of the steps."""


def first_steps(visit: Visit, info: ServerInfo, examination: ServerFindings) -> Sequence[FirstStep]:
    """Return the steps, or nothing if all are done or an administrator has dismissed them."""
    if visit.host.values.get(_DISMISSED):
        return ()
    settings = {item.key: item for item in visit.host.server.settings()}
    steps = (
        FirstStep(STEP_NAMES[0], _has_brand(settings), "[pages] name", "/server/settings/?q=pages."),
        FirstStep(
            STEP_NAMES[1], _has_sender(settings), "[messages] email", "/server/settings/?q=messages."
        ),
        FirstStep(STEP_NAMES[2], _stores(visit, examination), "[storages.main]", "/server/storages/"),
        FirstStep(STEP_NAMES[3], _has_more(visit, "/api/v1/tenants", info.tenants, 0), None, "/"),
        FirstStep(STEP_NAMES[4], _has_more(visit, "/users", info.users, 1), None, "/server/users/"),
    )
    return () if all(step.is_done for step in steps) else steps


def open_steps(visit: Visit) -> Sequence[FirstStep]:
    """Return the steps; nothing, and without an examination, after their dismissal."""
    if visit.host.values.get(_DISMISSED):
        return ()
    return first_steps(visit, visit.host.server.info(), visit.host.server.findings())


def dismiss_steps(visit: Visit) -> None:
    """Hide the steps from all administrators."""
    visit.host.values.put(_DISMISSED, value=True)


def _has_brand(settings: Mapping[str, ServerSetting]) -> bool:
    return settings["pages.name"].is_changed or settings["pages.logo"].is_changed


def _has_sender(settings: Mapping[str, ServerSetting]) -> bool:
    """Return whether messages reach people, and not only the log."""
    channels = [json.loads(settings[f"messages.{name}"].value) for name in ("email", "sms")]
    return any(sender != _DEVELOPMENT_SENDER for senders in channels for sender in senders)


def _stores(visit: Visit, examination: ServerFindings) -> bool:
    """Return whether the storage of new files has no fault."""
    targets = {f"storages.{item.name}" for item in visit.host.server.storages() if item.is_target}
    return any(item.part in targets and item.state == "ok" for item in examination.findings)


def _has_more(visit: Visit, path: str, counted: int | None, least: int) -> bool:
    """Return whether there are more records than that; counts may be some seconds old."""
    if counted is not None and counted > least:
        return True
    total: int = visit.read(path, pageSize=1)["meta"]["totalCount"]
    return total > least
