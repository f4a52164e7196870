"""Presets and their simulated platforms, without the server around them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from strongroom.plugin_api.login import (
    Client,
    Credential,
    LoginAttempt,
    VerifiedCredential,
)
from strongroom_login_oauth.method import make_proof
from strongroom_login_oauth.provider import Start
from strongroom_login_oidc.method import OIDCLogin
from strongroom_login_oidc.options import OIDCOptions, ProviderOptions
from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.oidc_providers import Person, Simulator, agree, sample_provider
from strongroom_simulators.oidc_providers.configuration import provider_section
from strongroom_simulators.oidc_providers.grants import challenge_of

from .clients import NONCE, VERIFIER, Addresses

REDIRECT_URI: Final = "https://strongroom.example/api/v1/oidc-authorizations/callback"

NOW: Final = 1_790_000_000.0


class PresetLogins:
    """One preset, and the platform that it logs in at, under the name of the preset.

    Args:
        preset: the name of the preset.
        folder: a folder for the private key of the client.
        redirect_uris: the registered redirect URIs.
        now: the time, in seconds since the Unix epoch.
    """

    def __init__(
        self,
        preset: str,
        folder: Path,
        redirect_uris: tuple[str, ...] = (REDIRECT_URI,),
        now: float = NOW,
    ) -> None:
        self.preset = preset
        self.clock = AdjustableClock(lambda: now)
        self.platform: Any = sample_provider(preset, *redirect_uris, clock=self.clock)
        self.simulator = Simulator(self.platform)
        section = provider_section(preset, self.platform, folder / f"{preset}.pem")
        if "private_key_file" in section:
            section["private_key_file"] = Path(section["private_key_file"])
        self.section: Mapping[str, Any] = section

    def method(self, **changes: Any) -> OIDCLogin:
        """Return the login method, with options that differ."""
        provider = ProviderOptions(**{**self.section, **changes})
        options = OIDCOptions(
            providers={self.preset: provider}, allow_insecure_loopback=True, read_timeout=30.0
        )
        return OIDCLogin(options, Addresses(), clock=self.clock)

    def url(self, method: OIDCLogin) -> str:
        """Return the URL that a browser is redirected to."""
        start = Start("state", REDIRECT_URI, NONCE, challenge_of(VERIFIER), language="zh")
        return method.providers[self.preset].authorize_url(start)

    def finish(self, method: OIDCLogin, redirect: Mapping[str, str], **state: str) -> VerifiedCredential:
        """Return what the method verifies by a redirect; ``state`` is what differs in its state."""
        began = {"redirect_uri": REDIRECT_URI, "nonce": NONCE, "code_verifier": VERIFIER}
        known = {name: redirect[name] for name in ("code", *method.parameters) if name in redirect}
        proof = make_proof("provider", {"name": self.preset, **began, **state}, known)
        verified = method.authenticate(LoginAttempt(Client("192.0.2.1"), method="oidc", proof=proof))
        assert verified is not None
        return verified

    def log_in(self, person: str = "lin", **changes: Any) -> VerifiedCredential:
        """Log a person in, with options that differ."""
        method = self.method(**changes)
        try:
            return self.finish(method, agree(self.url(method), person))
        finally:
            method.close()

    def add(self, person: Person) -> Person:
        """Add a person to the platform, or replace the one with the same id."""
        self.platform.add_person(person)
        return person


UrisOf = Callable[[str], tuple[str, ...]]

SiteOf = Callable[[str], PresetLogins]
"""Returns the platform of a preset, which is served."""


@contextmanager
def preset_sites(
    folder: Path, uris_of: UrisOf = lambda _: (REDIRECT_URI,), now: float = NOW
) -> Iterator[SiteOf]:
    """Serve the platforms that are asked for; see :class:`PresetLogins`.

    Args:
        uris_of: returns the registered redirect URIs of a preset.
    """
    sites: dict[str, PresetLogins] = {}
    with ExitStack() as stack:

        def get(preset: str) -> PresetLogins:
            if preset not in sites:
                sites[preset] = PresetLogins(preset, folder, uris_of(preset), now)
                stack.enter_context(sites[preset].simulator)
            return sites[preset]

        yield get


def oidc(value: str) -> Credential:
    """Return the credential with a value."""
    return Credential("oidc", value)
