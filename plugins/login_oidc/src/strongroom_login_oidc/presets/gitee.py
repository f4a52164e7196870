"""Gitee.

- A person is the number ``id``; the name ``login`` can be changed.
- ``email`` of the profile is the text that the person shows, or a sentence that there is none. The
  addresses with their state are at ``/api/v5/emails``.

Source: https://gitee.com/api/v5/oauth_doc and https://gitee.com/api/v5/swagger
"""

from collections.abc import Mapping
from typing import Any, Final

from strongroom_login_oidc.presets.oauth2 import ProfileProvider, named, read_number
from strongroom_login_oidc.presets.preset import Preset


class GiteeProvider(ProfileProvider):
    """Accounts of Gitee."""

    authorize_path = "/oauth/authorize"
    exchange_path = "/oauth/token"

    def person(self, access_token: str) -> tuple[str, Mapping[str, Any], str | None]:
        """Return the number, the profile and the confirmed primary address."""
        api = f"{self.options.base_url}/api/v5"
        profile = self.documents.get_object("profile", f"{api}/user", access_token)
        emails = self.documents.get_list("addresses", f"{api}/emails", access_token)
        return read_number(profile), named(profile), primary_email(emails)


def primary_email(emails: list[Any]) -> str | None:
    """Return the address that is primary and confirmed, if there is exactly one."""
    primary = [item for item in emails if isinstance(item, dict) and _is_primary(item)]
    if len(primary) != 1 or primary[0].get("state") != "confirmed":
        return None
    email = primary[0].get("email")
    return email if isinstance(email, str) else None


def _is_primary(item: Mapping[str, Any]) -> bool:
    scope = item.get("scope")
    return isinstance(scope, list) and "primary" in scope


GITEE: Final = Preset(
    "Gitee",
    GiteeProvider,
    base_url="https://gitee.com",
    optional=("base_url",),
    defaults={"scopes": ("user_info", "emails")},
)
