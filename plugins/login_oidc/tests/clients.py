"""The login method with a provider of a test, without the server around it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from strongroom.plugin_api.login import (
    Client,
    Credential,
    LoginAttempt,
    VerificationCode,
    VerifiedCredential,
)
from strongroom_login_oauth.method import make_proof
from strongroom_login_oidc.method import OIDCLogin
from strongroom_login_oidc.options import OIDCOptions, ProviderOptions

from .hostile import (
    CLIENT_ID,
    CLIENT_SECRET,
    NOW,
    REDIRECT_URI,
    HostileProvider,
)

NONCE: Final = "nonce-of-this-login"
VERIFIER: Final = "verifier-of-this-login-with-43-characters-or-more"


class Addresses:
    """The core normalises e-mail addresses, and verifies no proofs."""

    def identify(self, text: str) -> Credential | None:
        return Credential("email", text.lower()) if "@" in text else None

    def check_password(self, username: str, password: str) -> Credential | None:
        return None

    def consume_code(
        self, code: VerificationCode, recipient: str, purpose: str, *, client: Client | None = None
    ) -> Credential | None:
        return None


class Logins:
    """A login method with one provider or several.

    Args:
        providers: the providers by name, with the options that differ.
    """

    def __init__(
        self, providers: dict[str, tuple[HostileProvider, dict[str, Any]]], **options: Any
    ) -> None:
        self.now: float = NOW
        self.providers = {name: provider for name, (provider, _) in providers.items()}
        configured = {
            name: options_of(provider, **changes) for name, (provider, changes) in providers.items()
        }
        method = OIDCOptions(providers=configured, allow_insecure_loopback=True, **options)
        self.method = OIDCLogin(method, Addresses(), clock=lambda: self.now)

    def confirm(self, name: str = "company") -> dict[str, str]:
        """Return the redirect of a person who has confirmed a login."""
        redirect: dict[str, str] = self.providers[name].confirm(NONCE, VERIFIER)
        return redirect

    def finish(
        self, redirect: dict[str, str], name: str = "company", **state: str
    ) -> VerifiedCredential:
        """Return what the method verifies by a redirect, for a login that began at a provider."""
        began = {
            "name": name,
            "redirect_uri": REDIRECT_URI,
            "nonce": NONCE,
            "code_verifier": VERIFIER,
        }
        proof = make_proof("provider", {**began, **state}, redirect)
        attempt = LoginAttempt(Client("192.0.2.1"), method="oidc", proof=proof)
        verified = self.method.authenticate(attempt)
        assert verified is not None
        return verified

    def log_in(self, name: str = "company") -> VerifiedCredential:
        """Confirm a login and finish it."""
        return self.finish(self.confirm(name), name)


def options_of(provider: HostileProvider, **changes: Any) -> ProviderOptions:
    """Return the options of a provider."""
    client = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    return ProviderOptions(**{"issuer": provider.url, **client, **changes})


@contextmanager
def logins(provider: HostileProvider, options: dict[str, Any], **method: Any) -> Iterator[Logins]:
    """Yield a login method with one provider, named ``company``."""
    made = Logins({"company": (provider, options)}, **method)
    yield made
    made.method.close()
