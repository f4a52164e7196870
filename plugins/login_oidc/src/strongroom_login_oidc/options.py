"""The options of the section ``[login.oidc]``."""

import re
from dataclasses import dataclass
from typing import Final

from strongroom.plugin_api import option
from strongroom_login_oauth.options import OAuthOptions, is_private
from strongroom_login_oidc.presets import PRESETS
from strongroom_login_oidc.presets.preset import SETTINGS
from strongroom_login_oidc.provider_settings import ProviderSettings

_NAME: Final = re.compile(r"[a-z0-9_-]{1,32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderOptions(ProviderSettings):
    """The keys of ``[login.oidc.providers.NAME]``: one provider, or one client at it."""

    def __post_init__(self) -> None:
        _check_preset(self)
        ProviderSettings.__post_init__(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class OIDCOptions(OAuthOptions):
    """The keys of ``[login.oidc]``."""

    providers: dict[str, ProviderOptions] = option(
        help="The providers, each under a name of your choice that never changes."
    )
    administrator_id: str | None = option(
        None, help="The user that the rules of groups act as: an administrator of the tenants."
    )
    allow_insecure_loopback: bool = option(
        False,
        development_only=True,
        help="Whether issuers on this machine may begin with http://, for tests.",
    )

    def __post_init__(self) -> None:
        OAuthOptions.__post_init__(self)
        for name, provider in self.providers.items():
            if provider.groups and self.administrator_id is None:
                raise ValueError(f"administrator_id: is required for providers.{name}.groups")
            if not _NAME.fullmatch(name):
                raise ValueError(
                    f'providers: "{name}" must be lowercase letters, digits, hyphens and underscores'
                )
            for key in ("issuer", "base_url"):
                url = getattr(provider, key)
                if url is not None and not self.allows_url(url):
                    raise ValueError(
                        f"providers: {name}.{key} must begin with https://; see allow_insecure_loopback"
                    )

    def allows_url(self, url: str) -> bool:
        """Return whether requests may be sent to a URL of a provider."""
        return url.startswith("https://") or (self.allow_insecure_loopback and is_private(url))


def _check_preset(options: ProviderOptions) -> None:
    if options.preset is None:
        if options.issuer is None:
            raise ValueError("issuer: is required without a preset")
        for name in SETTINGS:
            if getattr(options, name):
                raise ValueError(f"{name}: is for presets only")
    elif options.preset not in PRESETS:
        raise ValueError(f"preset: must be one of: {', '.join(sorted(PRESETS))}")
    else:
        PRESETS[options.preset].check(options)
