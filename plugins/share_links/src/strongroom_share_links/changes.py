"""Changes of shares: which of them loosen a share, as only its creator and administrators may."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from strongroom.plugin_api.files import Tenure
from strongroom.plugin_api.web import ApiError, FieldError
from strongroom_share_links.errors import OUTDATED, POLICY, UNKNOWN
from strongroom_share_links.models import Audience, Link

Json = Mapping[str, Any]

OWN: Final = ("label", "notify")
"""Members that neither loosen nor tighten a share, and are its creator's."""

_NARROWER: Final = {
    Audience.ANYONE.value: {Audience.LOGGED_IN.value, Audience.MEMBERS.value, Audience.USERS.value},
    Audience.LOGGED_IN.value: {Audience.MEMBERS.value, Audience.USERS.value},
}
"""Audiences within another one. Named users need not be members."""


def current(row: Any, revision: int | None) -> Link:
    """Return the share of a locked row, which must have the expected revision, unless it is ``None``.

    Raises:
        ApiError: the share was deleted concurrently, or has another revision.
    """
    if row is None:
        raise ApiError(UNKNOWN)
    link = Link.from_row(row)
    if revision not in (None, link.revision):
        raise ApiError(OUTDATED)
    return link


def loosens(before: Link, after: Link, user_ids: Collection[str], request: Json) -> bool:
    """Return whether a change lets more visitors in, for longer or more often.

    Args:
        user_ids: the users in its audience before.
    """
    # A new password in place of another one opens the share to those who know the new one.
    has_other_password = before.password_hash not in (None, after.password_hash)
    return (
        has_other_password
        or _exceeds(after.expires_at, before.expires_at)
        or _exceeds(after.max_downloads, before.max_downloads)
        or _widens(before, after, user_ids, request)
        or request.get("closed") is False
    )


def limited(link: Link, tenure: Tenure, *, is_wanted: bool) -> Link:
    """Return a share that ends with the rights of the user who made or loosened it.

    Args:
        tenure: how long the user manages the file.
        is_wanted: whether the user has named the end of the share.

    Raises:
        ApiError: the named end is later.
    """
    if is_wanted and _exceeds(link.expires_at, tenure.expires_at):
        message = "Must not be later than the end of your own permission."
        raise ApiError(POLICY, details=[FieldError("expiresAt", "out-of-range", message)])
    ends = [end for end in (link.expires_at, tenure.expires_at) if end is not None]
    return replace(link, expires_at=min(ends, default=None), key_id=tenure.key_id)


def _exceeds(limit: int | None, other: int | None) -> bool:
    return other is not None and (limit is None or limit > other)


def _widens(before: Link, after: Link, user_ids: Collection[str], request: Json) -> bool:
    if "audience" not in request or after.audience in _NARROWER.get(before.audience, ()):
        return False
    is_same = after.audience == before.audience
    return not is_same or not set(request["audience"][1]) <= set(user_ids)
