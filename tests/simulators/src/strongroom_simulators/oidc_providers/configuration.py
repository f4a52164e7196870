"""The section of a server's configuration for a simulated provider."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from joserfc.jwk import ECKey

from strongroom_simulators.oidc_providers.provider import Provider
from strongroom_simulators.oidc_providers.samples import CLIENT

TEAM_ID: Final = "SAMPLETEAM"
KEY_ID: Final = "SAMPLEKEY1"

_ISSUER: Final = ("openid", "google", "apple")
"""Presets whose issuer is set; the others have ``base_url``."""

_FURTHER: Final[Mapping[str, Mapping[str, str]]] = {
    "keycloak": {"realm": "staff"},
    "authentik": {"application": "strongroom"},
}


def provider_section(preset: str, provider: Provider, key_file: Path) -> dict[str, Any]:
    """Return the members of ``[login.oidc.providers.NAME]``, and register a key if there is need of one.

    Args:
        preset: one of ``PROVIDERS``.
        provider: the provider, whose URL is known.
        key_file: where the private key is written, at Apple.
    """
    url = {"issuer" if preset in _ISSUER else "base_url": provider.url}
    name = {} if preset == "openid" else {"preset": preset}
    section = {**name, **url, "client_id": CLIENT.id, **_FURTHER.get(preset, {})}
    if preset != "apple":
        return {**section, "client_secret": CLIENT.secret}
    key = ECKey.generate_key("P-256")
    key_file.write_bytes(key.as_pem(private=True))
    client, public = provider.clients[CLIENT.id], key.as_pem(private=False).decode()
    provider.add_client(replace(client, public_key=public, team_id=TEAM_ID, key_id=KEY_ID))
    return {
        **section,
        "team_id": TEAM_ID,
        "private_key_id": KEY_ID,
        "private_key_file": str(key_file),
    }
