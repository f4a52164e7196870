"""One request of a browser for a page of the console."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, cast

from strongroom.plugin_api.browser import BrowserSession
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.page_forms import FieldNames
from strongroom.plugin_api.pages import PageLink
from strongroom.plugin_api.times import iso_format
from strongroom.plugin_api.users import Contacts
from strongroom.plugin_api.visits import Refused, Visit, current_visit
from strongroom.plugin_api.web import RestResponse

PREFIX: Final = "/console"
"""The path of the pages, below the base path of the server."""

_OWN_TEXTS: Final[Mapping[str, str]] = {
    f"error.{name}": f"problem-{name}"
    for name in (
        "content-infected",
        "content-unscannable",
        "group-name-taken",
        "file-locked",
        "held",
        "impersonation-refused",
        "last-administrator",
        "move-into-itself",
        "name-conflict",
        "not-a-file",
        "not-a-folder",
        "not-a-member",
        "not-found",
        "not-scanned-yet",
        "own-account",
        "parent-gone",
        "payload-too-large",
        "retained",
        "revision-conflict",
        "storage-full",
        "too-many-access-keys",
        "too-many-groups",
        "too-many-invitations",
        "too-many-nodes",
        "too-many-open-uploads",
        "too-many-requests",
        "unavailable",
        "upload-locked",
    )
}

PROBLEMS: Final = frozenset(_OWN_TEXTS.values())
"""The keys of the texts of errors for which the REST API has words of its own, such as "node"."""

_FIELD_NAMES: Final[FieldNames] = {
    "assurance.acr": ("level",),
    "assurance.maxAgeSeconds": ("age",),
    "email": ("typed", "user"),
    "eventTypes": ("types",),
    "expiresAt": ("until", "days"),
    "fromSequence": ("sequence",),
    "groupId": ("who",),
    "groups": ("group",),
    "mobile": ("typed", "user"),
    "overlapSeconds": ("overlap",),
    "overrideReason": ("reason",),
    "ownerId": ("who",),
    "quotaBytes": ("quota",),
    "toUserId": ("successor",),
}
"""The fields of the forms by the fields of the REST API, where their names differ."""

_POLICY: Final = {"img-src": "'self' data: blob:", "media-src": "'self'"}


class ConsoleVisit(Visit):
    """A request of a user who is logged in, or of an administrator who impersonates the user."""

    accepts_impersonation = True
    field_names = _FIELD_NAMES

    def __init__(self, host: HostAPI, prefix: str = PREFIX) -> None:
        super().__init__(host, prefix)

    @cached_property
    def session(self) -> BrowserSession:
        """The session of the browser, read once for a page."""
        return super().session

    @property
    def is_administrator(self) -> bool:
        """Whether the user administers the server."""
        caller = self.host.caller
        return caller is not None and caller.user_type == "ADMIN"

    def menu_items(self) -> Sequence[PageLink]:
        items = super().menu_items()
        is_impersonation = self.session.ends_at is not None
        return [item for item in items if not is_impersonation or item.path.startswith(self.root)]

    def page(self, template: str, **values: Any) -> Any:
        session = self.session
        ends_at = session.ends_at
        return super().page(
            template,
            policy=_POLICY,
            user=self.viewer(),
            is_administrator=self.is_administrator,
            impersonated_until=None if ends_at is None else iso_format(ends_at),
            problems=PROBLEMS,
            **values,
        )

    def read(self, path: str, **query: Any) -> Any:
        """Return what the REST API has at a path; users without a name have what pages call them."""
        return self.labelled(super().read(path, **query))

    def labelled(self, body: Any) -> Any:
        """Return a body whose summaries of users have a name each."""
        included = body.get("included", {}) if isinstance(body, Mapping) else {}
        nameless = [id_ for id_, item in included.items() if item["type"] == "user" and not item["name"]]
        if not nameless:
            return body
        contacts: Contacts = "whole" if self.is_administrator else "masked"
        labels = self.host.users.find_labels(nameless, contacts)
        named = {id_: {**included[id_], "name": name} for id_, name in labels.items()}
        return {**body, "included": {**included, **named}}

    def find(self, path: str, **query: Any) -> Sequence[Mapping[str, Any]]:
        """Return the records of a list; none if the REST API refuses it."""
        try:
            data: Sequence[Mapping[str, Any]] = self.read(path, **query)["data"]
        except Refused:
            return ()
        return data

    def problem_text(self, response: RestResponse) -> str:
        return text_of_error(response.json["error"])


def text_of_error(error: Mapping[str, Any]) -> str:
    """Return the text of an error of the REST API: its first detail's, if any.

    It is a key of :data:`PROBLEMS` if the API has other words for what people see.
    """
    details = error.get("details")
    if not details and error["code"] in _OWN_TEXTS:
        return _OWN_TEXTS[error["code"]]
    return str((details or [error])[0]["message"])


def console_visit() -> ConsoleVisit:
    """Return the visit of the current request."""
    return cast("ConsoleVisit", current_visit())
