"""Presets: what is known of well-known providers, so that the configuration need not say it."""

from collections.abc import Mapping
from typing import Final

from strongroom_login_oauth.provider import Provider
from strongroom_login_oidc.presets.apple import APPLE
from strongroom_login_oidc.presets.gitee import GITEE
from strongroom_login_oidc.presets.github import GITHUB
from strongroom_login_oidc.presets.google import GOOGLE
from strongroom_login_oidc.presets.microsoft import MICROSOFT
from strongroom_login_oidc.presets.preset import Preset
from strongroom_login_oidc.presets.qq import QQ
from strongroom_login_oidc.presets.self_hosted import (
    AUTHENTIK,
    CASDOOR,
    GITLAB,
    KEYCLOAK,
    LOGTO,
    ZITADEL,
)
from strongroom_login_oidc.provider import Environment, OIDCProvider
from strongroom_login_oidc.provider_settings import ProviderSettings

PRESETS: Final[Mapping[str, Preset]] = {
    "google": GOOGLE,
    "microsoft": MICROSOFT,
    "apple": APPLE,
    "github": GITHUB,
    "gitlab": GITLAB,
    "keycloak": KEYCLOAK,
    "authentik": AUTHENTIK,
    "zitadel": ZITADEL,
    "logto": LOGTO,
    "casdoor": CASDOOR,
    "gitee": GITEE,
    "qq": QQ,
}
"""The presets by the name in the configuration."""


def make_provider(name: str, options: ProviderSettings, environment: Environment) -> Provider:
    """Return a configured provider."""
    if options.preset is None:
        return OIDCProvider(name, options, environment)
    preset = PRESETS[options.preset]
    return preset.make(name, preset.resolve(options), environment)
