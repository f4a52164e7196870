"""What a preset says about a provider."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from strongroom_login_oauth.provider import Provider
from strongroom_login_oidc.provider import Environment, OIDCProvider
from strongroom_login_oidc.provider_settings import ProviderSettings

SETTINGS: Final = ("base_url", "realm", "application", "tenant", "tenants", "team_id")
"""The options that only some presets have."""

MakeProvider = Callable[[str, ProviderSettings, Environment], Provider]


@dataclass(frozen=True, slots=True)
class Preset:
    """What is known of a platform, so that the configuration need not say it.

    Args:
        label: the name of the platform.
        make: makes a provider of a name, its options and the environment.
        issuer: the issuer, with ``{base_url}`` and other options in it; ``None``: it needs none.
        base_url: the ``base_url`` that is not set; ``None``: it must be set if the issuer has it.
        required: further options that must be set.
        optional: the options of ``SETTINGS`` that may be set.
        defaults: values of options that are not set.
    """

    label: str
    make: MakeProvider = OIDCProvider
    issuer: str | None = None
    base_url: str | None = None
    required: tuple[str, ...] = ("client_secret",)
    optional: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def check(self, options: ProviderSettings) -> None:
        """Check the options of a provider.

        Raises:
            ValueError: one is absent, or is not one of this preset.
        """
        used = self._used()
        for name in SETTINGS:
            if getattr(options, name) and name not in (*used, *self.optional, *self.required):
                raise ValueError(f"{name}: is not an option of the preset {options.preset}")
        if options.issuer and not self._accepts_issuer(options):
            raise ValueError(f"issuer: is not an option of the preset {options.preset}")
        for name in self.required if options.issuer else (*self.required, *used):
            if not self._value(options, name):
                raise ValueError(f"{name}: is required for the preset {options.preset}")

    def resolve(self, options: ProviderSettings) -> ProviderSettings:
        """Return the options with what this preset knows in place of what is not set."""
        unset = {name: value for name, value in self.defaults.items() if _is_unset(options, name)}
        known: dict[str, Any] = {
            "base_url": self._base_url(options),
            "label": options.label or self.label,
            "icon": options.icon or f"{options.preset}.svg",
            "issuer": options.issuer or self._made_issuer(options),
        }
        return replace(options, **known, **unset)

    def _base_url(self, options: ProviderSettings) -> str | None:
        return (options.base_url or self.base_url or "").rstrip("/") or None

    def _made_issuer(self, options: ProviderSettings) -> str | None:
        if self.issuer is None:
            return None
        names = {name: self._value(options, name) for name in self._used()}
        return self.issuer.format(**{**names, "base_url": self._base_url(options)})

    def _accepts_issuer(self, options: ProviderSettings) -> bool:
        if self.issuer is not None and "{tenant}" not in self.issuer:
            return True
        # Options that are resolved already have the issuer of the tenant.
        return options.issuer == self._made_issuer(options)

    def _value(self, options: ProviderSettings, name: str) -> Any:
        known = {"base_url": self.base_url, **self.defaults}
        return getattr(options, name) or known.get(name)

    def _used(self) -> tuple[str, ...]:
        return tuple(name for name in SETTINGS if f"{{{name}}}" in (self.issuer or ""))


def _is_unset(options: ProviderSettings, name: str) -> bool:
    (member,) = (member for member in fields(options) if member.name == name)
    default = member.default_factory() if callable(member.default_factory) else member.default
    return bool(getattr(options, name) == default)
