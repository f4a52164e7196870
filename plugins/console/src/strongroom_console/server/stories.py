"""Records of the audit log as sentences, such as "Ann suspended Bo", with links to people and spaces.

The texts of this plugin have the sentences about the core. Other plugins have their own.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from strongroom.plugin_api.visits import Visit
from strongroom_console.sentences import MARKS, Piece, split_sentence, without_marks
from strongroom_console.server.people import page_path

Json = Mapping[str, Any]
Text = Callable[..., str]

ALONE: Final = frozenset(
    (
        "access-key.create",
        "access-key.leaked",
        "access-key.rename",
        "access-key.revoke",
        "access-key.rotate",
        "audit.prune",
        "authorization.grant",
        "authorization.refresh",
        "authorization.revoke",
        "authorization.step-up",
        "authorization.withdraw",
        "backup.restore",
        "consent.accept",
        "declaration.apply",
        "directory.change",
        "directory.register",
        "directory.remove",
        "factor.rename",
        "file.purge",
        "group-grant.put",
        "group-grant.remove",
        "group.create",
        "group.delete",
        "group.update",
        "hold.place",
        "hold.release",
        "impersonation.end",
        "login",
        "password-link.redeem",
        "plugin.act-as",
        "quarantine.delete",
        "quarantine.release",
        "refresh-token.reuse",
        "retention.override",
        "scan.infected",
        "secret.adopt",
        "setup-link.issue",
        "setup-link.redeem",
        "state.spend",
        "tenant.purge",
        "user-export.create",
        "user-import.cancel",
        "user-import.create",
        "user-import.finish",
        "user-import.revoke",
        "user.cancel-deletion",
        "user.erase",
        "user.export",
        "user.schedule-deletion",
        "version.purge",
        "version.update",
    )
)
"""The actions whose sentence names the actor only."""

ON_TARGET: Final = frozenset(
    (
        "authorization.revoke-all",
        "business-file.delete",
        "impersonation.start",
        "invitation.accept",
        "invitation.create",
        "invitation.decline",
        "invitation.delete",
        "invitation.resend",
        "login.challenge",
        "password-link.issue",
        "password.give",
        "quota.exceed",
        "retention.set",
        "service-account.create",
        "service-account.delete",
        "tenant.create",
        "tenant.delete",
        "tenant.restore",
        "tenant.transfer",
        "tenant.update",
        "user.change-server-metadata",
        "user.delete",
        "user.import",
        "user.import-update",
        "user.reinstate",
        "user.suspend",
    )
)
"""The actions whose sentence names a user or a space as well."""

OF_ONESELF: Final = frozenset(
    (
        "credential.bind",
        "credential.unbind",
        "factor.add",
        "factor.remove",
        "factor.reset",
        "password.change",
        "password.reset",
        "user.change",
        "user.change-metadata",
        "user.create",
    )
)
"""The actions with another sentence if the actor is the user."""

WITH_PERSON: Final = frozenset(
    (
        "grant.put",
        "grant.remove",
        "group-member.add",
        "group-member.remove",
        "lock.release",
        "member.put",
        "member.remove",
        "member.transfer",
    )
)
"""The actions on a space whose details name another user."""

WARNINGS: Final = frozenset(("quota.exceed", "refresh-token.reuse", "state.spend", "user-import.revoke"))
"""The actions that record what went wrong: their outcome is always a failure."""

FAILED_LOGINS: Final = {False: "story-login-failed", True: "story-login-failed-known"}
"""The keys of the sentences about failed logins, by whether a user has the name."""

ROLES: Final = {"admin": "role-admin", "member": "role-member", "records": "role-records"}

MARKS_OF_PLUGINS: Final = {
    **{name: MARKS[name] for name in ("actor", "target", "tenant")},
    "user": MARKS["person"],
}
"""What stands for the names in the sentences of plugins."""

_NAME: Final = re.compile(r"\{(\w+)\}")
_SPACE: Final = ("tenant", "tenantId")
"""The members of details with the id of a space."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the users and spaces that records refer to, and the paths of their pages, by ids."""

    users: Mapping[str, str]
    spaces: Mapping[str, str]

    def piece(self, id_: str | None, unknown: str) -> Piece:
        """Return the part of a sentence for an id."""
        if id_ is None:
            return Piece(unknown)
        if id_ in self.users:
            return Piece(self.users[id_], page_path(id_), is_name=True)
        if id_ in self.spaces:
            return Piece(self.spaces[id_], f"/server/tenants/{id_}/", is_name=True)
        return Piece(id_, is_name=True)


def names_in(visit: Visit, events: Sequence[Json], included: Mapping[str, Json]) -> Names:
    """Return the names of the users and spaces of a page of the audit log."""
    known = {id_: str(item["name"]) for id_, item in included.items() if item["name"]}
    users = {id_ for event in events for id_ in _user_ids(event)} - known.keys()
    spaces = {id_ for event in events for id_ in _space_ids(event)}
    return Names({**known, **_user_names(visit, users)}, _space_names(visit, spaces))


def _user_ids(event: Json) -> Iterable[str]:
    target, details = event["target"], event["details"]
    if target and target["type"] == "user":
        yield target["id"]
    yield from (details[name] for name in ("user", "toUser") if name in details)


def _space_ids(event: Json) -> Iterable[str]:
    if event["target"] and event["target"]["type"] == "tenant":
        yield event["target"]["id"]
    if (space := _space_id(event)) is not None:
        yield space


def _space_id(event: Json) -> str | None:
    details = event["details"]
    return next((details[name] for name in _SPACE if name in details), None)


def _user_names(visit: Visit, ids: Iterable[str]) -> Mapping[str, str]:
    unnamed = set(ids)
    return visit.host.users.find_labels(unnamed, "whole") if unnamed else {}


def _space_names(visit: Visit, ids: Iterable[str]) -> Mapping[str, str]:
    if not (wanted := set(ids)):
        return {}
    listed = visit.read_all("/api/v1/tenants", all="true").data
    return {space["id"]: space["name"] for space in listed if space["id"] in wanted}


def story_key(event: Json) -> str | None:
    """Return the key of the sentence of a record; ``None`` without one."""
    action, actor, target = event["action"], event["actor"], event["target"]
    name = f"story-{action.replace('.', '-')}"
    if event["outcome"] == "failure" and action not in WARNINGS:
        is_of_user = bool(target and target["type"] == "user")
        return FAILED_LOGINS[is_of_user] if action == "login" else None
    if action in ALONE:
        return name
    is_own = bool(actor and target and actor["$ref"] == target["id"])
    if action in OF_ONESELF:
        return f"{name}-self" if is_own else name
    is_known = action in ON_TARGET or (action in WITH_PERSON and "user" in event["details"])
    return name if is_known else None


def make_pieces(
    sentences: Mapping[str, str],
    event: Json,
    names: Names,
    text: Text,
    translated: Callable[[str], str],
) -> Sequence[Piece]:
    """Return the sentence of a record in parts; nothing if it has none.

    Args:
        sentences: the sentences of plugins by their actions, in English, with names in braces.
        text: returns the text of a key.
        translated: returns an English sentence in the language of the page.
    """
    details = event["details"]
    name = without_marks(str(details.get("name", "")))
    if (key := story_key(event)) is not None:
        role = text(ROLES[details["role"]]) if details.get("role") in ROLES else ""
        sentence = text(key, role=role, name=name, **MARKS)
    elif event["action"] in sentences and event["outcome"] == "success":
        values = {**MARKS_OF_PLUGINS, "name": name}
        # A translation of a plugin may have another name, which stays as it is.
        words = translated(sentences[event["action"]])
        sentence = _NAME.sub(lambda match: values.get(match[1], match[0]), words)
    else:
        return ()
    space = details.get("tenant") if event["action"] in WITH_PERSON else None
    names_of_event = {
        "actor": names.piece((event["actor"] or {}).get("$ref"), text("the-system")),
        "target": names.piece(space or (event["target"] or {}).get("id"), text("unknown")),
        "person": names.piece(details.get("user"), text("unknown")),
        "tenant": names.piece(_space_id(event), text("server-in-sentences")),
    }
    return split_sentence(sentence, names_of_event)


def without_names(sentence: str) -> str:
    """Return the sentence of a plugin with an ellipsis for each name, as the name of its action."""
    return _NAME.sub("…", sentence)
