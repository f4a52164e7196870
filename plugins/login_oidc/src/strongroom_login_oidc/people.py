"""People: the identity that the claims of a provider prove."""

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from strongroom.plugin_api.login import MAX_SESSION, MULTI_FACTOR, Assurance, Contact, Credential
from strongroom_login_oauth.errors import EmailNotAllowed
from strongroom_login_oauth.provider import Identity
from strongroom_login_oidc.provider_settings import ProviderSettings

KIND: Final = "oidc"
"""The kind of credentials with the value ``provider:sub``."""

MAX_VALUE: Final = 255
"""Characters of a credential's value."""

NO_SESSION: Final = ""
"""The id of the session of providers that state none."""

_HASHED: Final = "sha256="

# Printable ASCII: other characters have several forms that mail servers and databases take for one.
_EMAIL: Final = re.compile(r"[!-?A-~]{1,64}@([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)", re.ASCII)

Identify = Callable[[str], Credential | None]
"""Returns the normalised credential in a text, as ``Proofs.identify``."""


def make_credential(provider: str, subject: str) -> Credential:
    """Return the credential of a person: ``provider:sub``, compared as it is.

    A value that is too long for a credential has a hash in place of ``sub``.
    """
    value = f"{provider}:{subject}"
    if len(value) > MAX_VALUE or subject.startswith(_HASHED):
        value = f"{provider}:{_HASHED}{hashlib.sha256(subject.encode()).hexdigest()}"
    return Credential(KIND, value)


def session_key(provider: str, session: Any) -> str:
    """Return what a login remembers of its session at a provider: ``provider:sid``.

    A value that is too long has a hash in place of ``sid``.
    """
    known = session if isinstance(session, str) and "\0" not in session else NO_SESSION
    value = f"{provider}:{known}"
    if len(value) > MAX_SESSION or known.startswith(_HASHED):
        value = f"{provider}:{_HASHED}{hashlib.sha256(known.encode()).hexdigest()}"
    return value


def parse_session(value: str | None) -> tuple[str, str | None]:
    """Return the name of the provider and the ``sid`` of :func:`session_key`, if the login has them."""
    provider, _, session = (value or "").partition(":")
    is_known = session != NO_SESSION and not session.startswith(_HASHED)
    return provider, session if is_known else None


def read_identity(
    name: str,
    options: ProviderSettings,
    subject: str,
    claims: Mapping[str, Any],
    *,
    email: str | None,
    identify: Identify,
) -> Identity:
    """Return the identity of a person.

    Args:
        name: the name of the provider in the configuration.
        subject: the person's id at the provider, checked.
        email: the address that the provider has verified, if any.
        identify: normalises it.

    Raises:
        EmailNotAllowed: ``allowed_domains`` has another domain.
    """
    check_domain(email, options.allowed_domains)
    return Identity(
        make_credential(name, subject),
        contacts=_contacts(email, identify, is_trusted=options.trust_email),
        display_name=_text(claims.get(options.claims.name)),
        assurance=read_assurance(claims, options),
        session=session_key(name, claims.get("sid")),
        claims=claims,
    )


def verified_email(claims: Mapping[str, Any], options: ProviderSettings) -> str | None:
    """Return the address that the provider says it has verified, or ``None``.

    ``email_verified`` is ``true``, or the text ``"true"`` that some providers send; nothing else counts.
    """
    email = claims.get(options.claims.email)
    is_verified = claims.get(options.claims.email_verified)
    if is_verified is not True and is_verified != "true":
        return None
    return email if isinstance(email, str) and _EMAIL.fullmatch(email) else None


def check_domain(email: str | None, domains: tuple[str, ...]) -> None:
    """Require an address of one of the domains, compared as ASCII without case.

    Raises:
        EmailNotAllowed: there is no such address.
    """
    if not domains:
        return
    address = _EMAIL.fullmatch(email) if email else None
    if address is None or address[1].lower() not in domains:
        raise EmailNotAllowed("no verified address of an allowed domain")


def read_assurance(claims: Mapping[str, Any], options: ProviderSettings) -> Assurance:
    """Return how strongly the provider has proven a person: two factors only where configured."""
    amr = claims.get("amr")
    methods = amr if isinstance(amr, list) else []
    counts = any(isinstance(method, str) and method in options.mfa_amr for method in methods)
    if counts or (isinstance(claims.get("acr"), str) and claims["acr"] in options.mfa_acr):
        return Assurance(("mfa",), MULTI_FACTOR)
    return Assurance()


def _contacts(email: str | None, identify: Identify, *, is_trusted: bool) -> tuple[Contact, ...]:
    """Return the verified address, unless its normalised form is one of another text."""
    credential = identify(email) if email else None
    if credential is None or credential.kind != "email":
        return ()
    is_same = credential.value.lower() == str(email).lower()
    return (Contact(credential, is_proven=True, is_trusted=is_trusted),) if is_same else ()


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
