"""The settings of one provider: what its section of the configuration, or its preset, says."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from strongroom.plugin_api import option
from strongroom_login_oauth.client_authentication import BASIC, NONE, POST
from strongroom_login_oauth.options import AppOptions
from strongroom_login_oidc.exchange import PRIVATE_KEY, TOKEN_AUTHS
from strongroom_login_oidc.keys import ALGORITHMS

OPENID: Final = "openid"
PROMPTS: Final = ("none", "login", "consent", "select_account")

_DOMAIN: Final = re.compile(r"[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+")
_WELL_KNOWN: Final = "/.well-known/"
"""What clients append to the issuer (OpenID Connect Discovery 1.0, section 4)."""
_ISSUER: Final = re.compile(r"https?://[!-~]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimNames:
    """The keys of ``[login.oidc.providers.NAME.claims]``: the names of claims."""

    name: str = option("name", help="The claim with the name of a new user.")
    email: str = option("email", help="The claim with the e-mail address.")
    email_verified: str = option(
        "email_verified", help="The claim that says whether the provider has verified the address."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRule:
    """The keys of ``[login.oidc.providers.NAME.groups.RULE]``: a membership by a claim."""

    claim: str = option(help="The claim, or a path to one such as `realm_access.roles`.")
    value: str = option(help="The value that the claim has, alone or in a list.")
    tenant: str = option(help="The id of the tenant that the person becomes a member of.")
    group: str | None = option(None, help="The id of the group of the tenant; without it, no group.")
    role: str = option(
        "member",
        choices=("member", "admin", "records"),
        help="The role in the tenant, if the person did not belong to it before.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings(AppOptions):
    """The keys of ``[login.oidc.providers.NAME]``, without what the presets require of them."""

    preset: str | None = option(None, help="The preset, such as `google`; it says what is not set here.")
    issuer: str | None = option(None, help="The issuer URL of the provider; required without a preset.")
    base_url: str | None = option(
        None, help="The URL of a server of your own, for presets such as `keycloak`."
    )
    realm: str | None = option(None, help="The realm, for the preset `keycloak`.")
    application: str | None = option(
        None, help="The slug of the application, for the preset `authentik`."
    )
    tenant: str | None = option(
        None,
        help="For the preset `microsoft`: `common`, `organizations`, `consumers` or the id of a tenant.",
    )
    tenants: tuple[str, ...] = option(
        (), help="For the preset `microsoft`: the ids of the tenants that may log in; empty: all."
    )
    team_id: str | None = option(None, help="For the preset `apple`: the id of the team.")
    client_id: str = option(help="The id of the client that is registered at the provider.")
    client_secret: str | None = option(None, secret=True, help="The secret of the client.")
    token_auth: str = option(
        BASIC, choices=TOKEN_AUTHS, help="How the client proves itself at the token endpoint."
    )
    private_key_file: Path | None = option(
        None, help="The file with the private key for `private_key_jwt`: PEM or JWK."
    )
    private_key_id: str | None = option(
        None, help="The `kid` of the private key, if it is no JWK that has one."
    )
    scopes: tuple[str, ...] = option(
        (OPENID, "email", "profile"), help="The scopes that are requested; `openid` is one of them."
    )
    algorithms: tuple[str, ...] = option(
        ALGORITHMS, advanced=True, help="The signature algorithms that ID tokens may have."
    )
    register: bool = option(True, help="Whether the first login of an unknown person creates a user.")
    trust_email: bool = option(
        False,
        help="Whether an address verified by the provider logs in the user who has verified it here.",
    )
    allowed_domains: tuple[str, ...] = option(
        (), help="Domains of verified e-mail addresses that may log in; empty: all people may."
    )
    login_domains: tuple[str, ...] = option(
        (),
        help="Domains of e-mail addresses for which the login page offers this provider; "
        "with them, it asks for the name before the password.",
    )
    max_age_seconds: int = option(
        0, minimum=0, help="How long ago people may have logged in at the provider; 0: any time."
    )
    userinfo: bool = option(False, help="Whether claims are also fetched from the userinfo endpoint.")
    prompt: str | None = option(None, choices=PROMPTS, help="What the provider shows, such as `login`.")
    acr_values: tuple[str, ...] = option((), help="The authentication contexts that are requested.")
    end_session: bool = option(
        True,
        help="Whether a logout from the pages also leads to the logout of the provider, if it has one.",
    )
    mfa_acr: tuple[str, ...] = option(
        (), help="Values of the provider's `acr` that count as two factors here."
    )
    mfa_amr: tuple[str, ...] = option(
        (), help="Values in the provider's `amr` that count as two factors here, such as `mfa`."
    )
    claims: ClaimNames = option(default_factory=ClaimNames, help="The names of claims.")
    groups: dict[str, GroupRule] = option(
        default_factory=dict, help="Rules that give memberships, each under a name of your choice."
    )
    label: str | None = option(None, help="The English name of the provider, for the login page.")
    label_zh: str | None = option(None, help="The Chinese name of the provider, for the login page.")
    icon: str | None = option(None, help="The name of a picture of the plugin, such as `openid.svg`.")

    def __post_init__(self) -> None:
        _check_issuer("issuer", self.issuer)
        _check_issuer("base_url", self.base_url)
        _check_client(self)
        if OPENID not in self.scopes and self.preset is None:
            raise ValueError("scopes: must contain openid")
        for algorithm in self.algorithms:
            if algorithm not in ALGORITHMS:
                raise ValueError(f"algorithms: must be of: {', '.join(ALGORITHMS)}")
        for name in ("allowed_domains", "login_domains"):
            for domain in getattr(self, name):
                if not _DOMAIN.fullmatch(domain):
                    raise ValueError(f'{name}: must be like "example.com", in lowercase ASCII')


def _check_issuer(name: str, url: str | None) -> None:
    if url is None:
        return
    parts = urlsplit(url)
    if not _ISSUER.fullmatch(url) or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"{name}: must be a URL without query and fragment")
    issuer, separator, _ = url.partition(_WELL_KNOWN)
    if separator:
        raise ValueError(f'{name}: must end before {_WELL_KNOWN}, such as "{issuer}"')


def _check_client(settings: ProviderSettings) -> None:
    """Require the secret or the key of the client authentication, and no other."""
    if settings.token_auth in (BASIC, POST) and not settings.client_secret and settings.preset is None:
        raise ValueError(f"client_secret: is required for {settings.token_auth}; set it")
    if settings.token_auth == NONE and settings.client_secret:
        raise ValueError('client_secret: is sent nowhere with token_auth = "none"')
    if settings.token_auth == PRIVATE_KEY and settings.private_key_file is None:
        raise ValueError(f"private_key_file: is required for {PRIVATE_KEY}")
