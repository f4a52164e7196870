"""GitHub, and GitHub Enterprise by ``base_url``.

- A person is the number ``id``. The name ``login`` can be changed, and another person can take it then.
- Refused codes have status 200 and ``error``.
- The address of the profile is any text that the person has chosen to show. The primary address that
  GitHub has verified is at ``/user/emails``.
- PKCE counts since July 2025.

Sources: https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps,
https://docs.github.com/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors,
https://docs.github.com/rest/users/emails,
https://github.blog/changelog/2025-07-14-pkce-support-for-oauth-and-github-app-authentication
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

from strongroom_login_oauth.errors import CodeInvalid, Misconfigured
from strongroom_login_oidc.presets.oauth2 import ProfileProvider, named, read_number
from strongroom_login_oidc.presets.preset import Preset


class GitHubProvider(ProfileProvider):
    """Accounts of GitHub."""

    authorize_path = "/login/oauth/authorize"
    exchange_path = "/login/oauth/access_token"
    token_errors: ClassVar[Mapping[str, type[Exception]]] = {
        "bad_verification_code": CodeInvalid,
        "incorrect_client_credentials": Misconfigured,
        "redirect_uri_mismatch": Misconfigured,
        "application_suspended": Misconfigured,
    }

    def person(self, access_token: str) -> tuple[str, Mapping[str, Any], str | None]:
        """Return the number, the profile and the verified primary address."""
        api = api_url(str(self.options.base_url))
        profile = self.documents.get_object("profile", f"{api}/user", access_token)
        emails = self.documents.get_list("addresses", f"{api}/user/emails", access_token)
        return read_number(profile), named(profile), primary_email(emails)


def api_url(base_url: str) -> str:
    """Return the URL of the REST interface: a host of its own at GitHub, a path at a server."""
    host = urlsplit(base_url).hostname or ""
    is_hosted = host == "github.com" or host.endswith(".ghe.com")
    return f"https://api.{host}" if is_hosted else f"{base_url}/api/v3"


def primary_email(emails: list[Any]) -> str | None:
    """Return the address that is primary and verified, if there is exactly one."""
    primary = [item for item in emails if isinstance(item, dict) and item.get("primary") is True]
    if len(primary) != 1 or primary[0].get("verified") is not True:
        return None
    email = primary[0].get("email")
    return email if isinstance(email, str) else None


GITHUB: Final = Preset(
    "GitHub",
    GitHubProvider,
    base_url="https://github.com",
    optional=("base_url",),
    defaults={"scopes": ("read:user", "user:email")},
)
