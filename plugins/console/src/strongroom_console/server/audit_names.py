"""The names of actions in the audit log: what was acted on, and what was done with it."""

from collections.abc import Sequence
from typing import Final

OBJECTS: Final = frozenset(
    (
        "access-key",
        "audit",
        "authorization",
        "backup",
        "business-file",
        "consent",
        "credential",
        "declaration",
        "directory",
        "factor",
        "file",
        "grant",
        "group",
        "group-grant",
        "group-member",
        "hold",
        "impersonation",
        "invitation",
        "lock",
        "login",
        "logout",
        "member",
        "password",
        "password-link",
        "plugin",
        "quarantine",
        "quota",
        "refresh-token",
        "retention",
        "scan",
        "secret",
        "service-account",
        "setup-link",
        "share",
        "state",
        "tenant",
        "user",
        "user-export",
        "user-import",
        "version",
        "webhook",
    )
)
"""What actions are on: the part of their names before the dot."""

VERBS: Final = frozenset(
    (
        "accept",
        "act-as",
        "add",
        "adopt",
        "apply",
        "bind",
        "cancel",
        "cancel-deletion",
        "challenge",
        "change",
        "change-metadata",
        "change-server-metadata",
        "create",
        "decline",
        "delete",
        "download",
        "end",
        "erase",
        "exceed",
        "export",
        "finish",
        "give",
        "grant",
        "import",
        "import-update",
        "infected",
        "issue",
        "leaked",
        "override",
        "place",
        "prune",
        "purge",
        "put",
        "redeem",
        "refresh",
        "register",
        "reinstate",
        "release",
        "remove",
        "rename",
        "resend",
        "reset",
        "restore",
        "reuse",
        "revoke",
        "revoke-all",
        "rotate",
        "schedule-deletion",
        "set",
        "spend",
        "start",
        "step-up",
        "suspend",
        "test",
        "transfer",
        "unbind",
        "update",
        "withdraw",
    )
)
"""What actions do: the part of their names after the dot."""


def keys_of_action(action: str) -> Sequence[str]:
    """Return the keys of the texts of an action, such as ``member.put``; none for an unknown one."""
    name, _, verb = action.partition(".")
    if name not in OBJECTS or (verb and verb not in VERBS):
        return ()
    return (f"audited-{name}", f"was-{verb}") if verb else (f"audited-{name}",)
