"""Sample people and clients of each provider."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.oidc_providers.apple import Apple
from strongroom_simulators.oidc_providers.gitee import Gitee
from strongroom_simulators.oidc_providers.github import GitHub
from strongroom_simulators.oidc_providers.google import Google
from strongroom_simulators.oidc_providers.microsoft import PERSONAL_TENANT, Microsoft
from strongroom_simulators.oidc_providers.openid import OpenIdProvider
from strongroom_simulators.oidc_providers.provider import Provider
from strongroom_simulators.oidc_providers.qq import QQ
from strongroom_simulators.oidc_providers.registry import Person, RegisteredClient
from strongroom_simulators.oidc_providers.self_hosted import (
    Authentik,
    Casdoor,
    GitLab,
    Keycloak,
    Logto,
    Zitadel,
)

STAFF_TENANT: Final = "aaaabbbb-0000-cccc-1111-dddd2222eeee"
OTHER_TENANT: Final = "bbbbcccc-1111-dddd-2222-eeee3333ffff"

CLIENT: Final = RegisteredClient("sample-client", "sample-secret:/+ %")

LIN: Final = Person("lin", "1001", "林 小雨", "lin@example.org")
ADA: Final = Person("ada", "1002", "Ada Lovelace", "ada@example.org")
EVE: Final = Person("eve", "1003", "Eve", "eve@example.net", is_verified=False)

PROVIDERS: Final[Mapping[str, Callable[[AdjustableClock], Provider]]] = {
    "openid": OpenIdProvider,
    "google": Google,
    "microsoft": Microsoft,
    "apple": Apple,
    "github": GitHub,
    "gitlab": GitLab,
    "keycloak": Keycloak,
    "authentik": Authentik,
    "zitadel": Zitadel,
    "logto": Logto,
    "casdoor": Casdoor,
    "gitee": Gitee,
    "qq": QQ,
}
"""The providers by the name of the preset."""


def sample_provider(preset: str, *redirect_uris: str, clock: AdjustableClock | None = None) -> Provider:
    """Return a provider with one client and three people.

    Args:
        preset: one of ``PROVIDERS``.
        redirect_uris: those of the client.
    """
    provider = PROVIDERS[preset](clock or AdjustableClock())
    provider.add_client(replace(CLIENT, redirect_uris=redirect_uris))
    for person in (LIN, ADA, EVE):
        provider.add_person(replace(person, claims=_claims(preset, person)))
    return provider


def _claims(preset: str, person: Person) -> dict[str, object]:
    if preset == "google" and person.is_verified:
        return {"hd": "example.org"}
    if preset == "microsoft":
        tid = {"lin": STAFF_TENANT, "ada": PERSONAL_TENANT}.get(person.id, OTHER_TENANT)
        return {"tid": tid, "oid": f"00000000-0000-0000-0000-{int(person.subject):012}"}
    return {"login": person.id} if preset in ("github", "gitee") else {}
