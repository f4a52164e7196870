"""Simulated OpenID Connect and OAuth 2.0 providers, each with the traps of the real one.

They are written from the providers' documentation and share no code with the plugin. In a test::

    provider = sample_provider("google", "https://127.0.0.1/api/v1/oidc-authorizations/callback/google")
    with Simulator(provider) as simulator:
        parameters = agree(url, "lin")  # of the redirect, after the person "lin" has agreed
"""

from strongroom_simulators.oidc_providers.browsing import agree, refuse
from strongroom_simulators.oidc_providers.provider import Provider
from strongroom_simulators.oidc_providers.registry import Person, RegisteredClient
from strongroom_simulators.oidc_providers.samples import CLIENT, PROVIDERS, sample_provider
from strongroom_simulators.oidc_providers.server import Simulator

__all__ = [
    "CLIENT",
    "PROVIDERS",
    "Person",
    "Provider",
    "RegisteredClient",
    "Simulator",
    "agree",
    "refuse",
    "sample_provider",
]
