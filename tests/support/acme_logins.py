"""The plugin ``acme`` of tests: a login by what its proof states, as the plugin of a platform would."""

from pathlib import Path
from typing import Any, Final

from strongroom.foundation.caller import Origin
from strongroom.identity.sessions.login import LoginService
from strongroom.identity.sessions.token_issuing import IssuedTokens
from strongroom.plugin_api.login import Client, LoginAttempt
from tests.support.api import Api
from tests.support.distributions import install

PLUGIN: Final = """
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.login import Contact, Credential, LoginMethod, VerifiedCredential

API_VERSION = "2.0"
logins, faults = [], []


def contacts(proof):
    marks = proof.get("marks", "proven trusted").split()
    is_proven, is_trusted = "proven" in marks, "trusted" in marks
    if "email" not in proof:
        return ()
    return (Contact(Credential("email", proof["email"]), is_proven=is_proven, is_trusted=is_trusted),)


class Acme(LoginMethod):
    name = "acme"

    def authenticate(self, attempt):
        if attempt.method != self.name:
            return None
        proof = attempt.proof
        email = proof.get("email")
        return VerifiedCredential(
            Credential("acme", proof["id"]),
            contacts=contacts(proof),
            may_register="closed" not in proof,
            session=proof.get("session"),
            context={"rules": ["sales"]} if "session" in proof else {},
        )

    def logged_in(self, login):
        logins.append(login)
        if faults:
            raise RuntimeError(faults[0])

    def logout_url(self, logout):
        if faults:
            raise RuntimeError(faults[0])
        return f"https://acme.example/end?sid={logout.session}&to={logout.return_url}"


@hookimpl
def register_login_methods():
    return [Acme]
"""

CLIENT: Final = Client("192.0.2.7", "test/1.0")


def install_acme(folder: Path) -> str:
    """Install the plugin into a folder for ``PYTHONPATH``; return its module."""
    return install(folder, "acme", PLUGIN)


def log_in(api: Api, person: str, **proof: str) -> IssuedTokens:
    """Log in a person of the platform."""
    attempt = LoginAttempt(CLIENT, method="acme", proof={"id": person, **proof})
    return api.container.get(LoginService).log_in(attempt, origin=Origin())


def status(api: Api, login: IssuedTokens) -> int:
    """Return the status of a request with the token of a login."""
    headers: dict[str, Any] = {"Authorization": f"Bearer {login.access_token}"}
    return api.get("/users/me", headers=headers).status_code
