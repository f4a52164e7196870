"""Options of presets: accepted and refused values."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from strongroom_login_oidc.options import OIDCOptions, ProviderOptions
from strongroom_login_oidc.presets import PRESETS
from strongroom_login_oidc.provider_settings import ClaimNames

CLIENT: dict[str, Any] = {"client_id": "us", "client_secret": "a secret"}
APPLE: dict[str, Any] = {
    "client_id": "us",
    "team_id": "TEAM",
    "private_key_id": "KEY",
    "private_key_file": Path("key.pem"),
}
TENANT = "aaaabbbb-0000-cccc-1111-dddd2222eeee"
URL = "https://id.example.org"

ISSUERS = [
    ("google", {}, "https://accounts.google.com"),
    ("microsoft", {}, "https://login.microsoftonline.com/common/v2.0"),
    ("microsoft", {"tenant": TENANT}, f"https://login.microsoftonline.com/{TENANT}/v2.0"),
    ("gitlab", {}, "https://gitlab.com"),
    ("gitlab", {"base_url": f"{URL}/"}, URL),
    ("keycloak", {"base_url": URL, "realm": "staff"}, f"{URL}/realms/staff"),
    ("keycloak", {"issuer": f"{URL}/auth/realms/staff"}, f"{URL}/auth/realms/staff"),
    ("authentik", {"base_url": URL, "application": "a"}, f"{URL}/application/o/a/"),
    ("zitadel", {"base_url": URL}, URL),
    ("logto", {"base_url": URL}, f"{URL}/oidc"),
    ("casdoor", {"base_url": URL}, URL),
]


@pytest.mark.parametrize(("preset", "changes", "issuer"), ISSUERS)
def test_the_issuer_is_known_by_the_preset(preset: str, changes: dict[str, Any], issuer: str) -> None:
    options = ProviderOptions(preset=preset, **CLIENT, **changes)
    resolved = PRESETS[preset].resolve(options)
    assert resolved.issuer == issuer
    assert PRESETS[preset].resolve(resolved) == resolved


def test_what_is_set_replaces_what_the_preset_knows() -> None:
    claims = ClaimNames(name="nick")
    options = ProviderOptions(
        preset="casdoor", base_url=URL, claims=claims, label="Staff", scopes=("openid",), **CLIENT
    )
    resolved = PRESETS["casdoor"].resolve(options)
    assert (resolved.claims, resolved.label, resolved.scopes) == (claims, "Staff", ("openid",))


def test_apple_needs_no_secret() -> None:
    resolved = PRESETS["apple"].resolve(ProviderOptions(preset="apple", **APPLE))
    assert resolved.issuer == "https://appleid.apple.com"
    assert resolved.scopes == ("openid", "email", "name")


REFUSED: list[tuple[str | None, dict[str, Any], str]] = [
    ("other", {}, "preset: must be one of: apple, authentik"),
    (None, {"issuer": URL, "realm": "staff"}, "realm: is for presets only"),
    (None, {"issuer": URL, "tenants": (TENANT,)}, "tenants: is for presets only"),
    ("google", {"client_secret": None}, "client_secret: is required for the preset google"),
    ("google", {"tenants": (TENANT,)}, "tenants: is not an option of the preset google"),
    ("google", {"base_url": URL}, "base_url: is not an option of the preset google"),
    ("github", {"issuer": URL}, "issuer: is not an option of the preset github"),
    ("github", {"base_url": "git.example.org"}, "base_url: must be a URL"),
    ("keycloak", {"base_url": URL}, "realm: is required for the preset keycloak"),
    ("keycloak", {"realm": "staff"}, "base_url: is required for the preset keycloak"),
    ("authentik", {"base_url": URL}, "application: is required for the preset authentik"),
    ("zitadel", {}, "base_url: is required for the preset zitadel"),
    ("logto", {}, "base_url: is required for the preset logto"),
    ("casdoor", {}, "base_url: is required for the preset casdoor"),
    ("microsoft", {"issuer": URL}, "issuer: is not an option of the preset microsoft"),
    ("microsoft", {"trust_email": True}, "trust_email: Microsoft verifies no addresses"),
    ("microsoft", {"allowed_domains": ("example.org",)}, "allowed_domains: Microsoft verifies no"),
    ("microsoft", {"tenant": "example.onmicrosoft.com"}, "tenant: must be the id of a tenant"),
    ("microsoft", {"tenant": TENANT.upper()}, "tenant: must be the id of a tenant"),
    ("microsoft", {"tenants": ("common",)}, "tenants: must be ids in lowercase"),
    ("apple", {"team_id": None}, "team_id: is required for the preset apple"),
    ("apple", {"private_key_id": None}, "private_key_id: is required for the preset apple"),
    ("apple", {"private_key_file": None}, "private_key_file: is required for the preset apple"),
]


@pytest.mark.parametrize(("preset", "changes", "message"), REFUSED)
def test_a_wrong_option_is_refused_with_a_sentence(
    preset: str | None, changes: dict[str, Any], message: str
) -> None:
    client = APPLE if preset == "apple" else CLIENT
    with pytest.raises(ValueError, match=f"^{message}"):
        ProviderOptions(**{"preset": preset, **client, **changes})


def test_a_base_url_is_https() -> None:
    provider = ProviderOptions(preset="github", base_url="http://git.example.org", **CLIENT)
    with pytest.raises(ValueError, match=r"^providers: git.base_url must begin with https"):
        OIDCOptions(providers={"git": provider})


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_each_preset_has_a_picture_of_its_own(preset: str) -> None:
    assert (files("strongroom_login_oidc") / "static" / f"{preset}.svg").is_file()
