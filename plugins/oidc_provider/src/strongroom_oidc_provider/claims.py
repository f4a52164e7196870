"""Claims about users, by scope (OpenID Connect Core, section 5.4)."""

from collections.abc import Collection
from typing import Any

from strongroom.plugin_api.users import UserInfo

CLAIMS = (
    "sub",
    "name",
    "preferred_username",
    "locale",
    "updated_at",
    "email",
    "email_verified",
    "phone_number",
    "phone_number_verified",
)
"""The claims of the endpoint for user information."""


def get_claims(user: UserInfo, scopes: Collection[str]) -> dict[str, Any]:
    """Return the claims about a user that the scopes cover."""
    claims: dict[str, Any] = {"sub": user.id}
    if "profile" in scopes:
        claims |= {
            "name": user.name,
            "preferred_username": user.username,
            "locale": user.locale,
            "updated_at": user.updated_at // 1000,
        }
    if "email" in scopes and user.email is not None:
        claims |= {"email": user.email, "email_verified": user.email_verified}
    if "phone" in scopes and user.mobile is not None:
        claims |= {"phone_number": user.mobile, "phone_number_verified": user.mobile_verified}
    return {name: value for name, value in claims.items() if value is not None}
