"""Login methods: the ways in which a client authenticates.

A method checks an attempt and returns the verified credential. The core finds or creates the user,
throttles, requires captchas, writes the audit log and issues the tokens, the same for every method.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final, Protocol

from strongroom.plugin_api.extension import Extension, OptionsT


@dataclass(frozen=True, slots=True)
class Credential:
    """A name that identifies one user.

    ``kind`` is ``email``, ``mobile``, ``username`` or a kind that a plugin defines. ``value`` is the
    normalised form (a lowercase address, an E.164 number, ``platform:id``).
    """

    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class VerificationCode:
    """A code from a message, with the id that was returned when it was sent."""

    id: str
    code: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Client:
    """The origin of an attempt: network address, User-Agent, and the device's id if it sent one."""

    address: str
    user_agent: str = ""
    device_id: str | None = None


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """The proofs that a client sent.

    ``proof`` contains the data of a method with its own endpoint. Such an endpoint also sets
    ``method``, and the core then tries only that method.
    """

    client: Client
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    verification_code: VerificationCode | None = None
    method: str | None = None
    proof: Mapping[str, str] = field(default_factory=dict, repr=False)


SINGLE_FACTOR: Final = "urn:strongroom:single"
"""The ``acr`` of a login by one factor, such as a password or a code."""

MULTI_FACTOR: Final = "urn:strongroom:mfa"
"""The ``acr`` of a login by two different factors."""

PHISHING_RESISTANT: Final = "phr"
"""The ``acr`` of a login whose proof works on one site only (OpenID Connect EAP ACR Values 1.0)."""

PHISHING_RESISTANT_HARDWARE: Final = "phrh"
"""The same with a key that its hardware protects (OpenID Connect EAP ACR Values 1.0)."""


@dataclass(frozen=True, slots=True)
class Assurance:
    """How strongly a login is proven.

    Args:
        amr: the proofs, as Authentication Method References (RFC 8176), such as ``pwd``.
        acr: the Authentication Context Class Reference, one of the constants of this module.
    """

    amr: tuple[str, ...] = ()
    acr: str = SINGLE_FACTOR


@dataclass(frozen=True, slots=True)
class VerifiedCredential:
    """The credentials that an attempt has proven.

    Args:
        credential: the main credential.
        also: further credentials proven at the same time, such as a union id or a phone number that
            the platform has verified. Do not include unverified claims. All credentials must belong to
            one user: the core binds the unbound ones to that user, and reports a conflict if they
            belong to two users.
        may_register: whether to create a user if none of the credentials is bound.
        display_name: the name of such a new user.
        assurance: how strongly the attempt proves them.
    """

    credential: Credential
    also: tuple[Credential, ...] = ()
    may_register: bool = False
    display_name: str | None = None
    assurance: Assurance = Assurance()


class LoginRejected(Exception):
    """The attempt is of this method's kind, and its proof is wrong.

    Args:
        message: the reason, for developers.
        code: the error code for the client: ``error.invalid-credentials``, or a code that the plugin
            has registered with its status and message.
    """

    def __init__(self, message: str, *, code: str = "error.invalid-credentials") -> None:
        super().__init__(message)
        self.code = code


class LoginUnavailable(Exception):
    """The proof cannot be checked now; the client gets status 503.

    Args:
        message: one line for the operator's log, without secrets.
        retry_after: seconds after which the client may retry.
        misconfigured: whether the cause is a configuration error that the operator must fix.
    """

    def __init__(self, message: str, *, retry_after: int, misconfigured: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.misconfigured = misconfigured


class Proofs(Protocol):
    """The core's checks of passwords and verification codes, for use by login methods."""

    def identify(self, text: str) -> Credential | None:
        """Return the normalised e-mail address, mobile number or username in ``text``, if any."""

    def check_password(self, username: str, password: str) -> Credential | None:
        """Return the credential if the password is its user's. The time reveals nothing."""

    def spend_code(self, code: VerificationCode, recipient: str, purpose: str) -> Credential | None:
        """Use up a verification code; return its recipient's credential if the code is right."""


class LoginMethod(Extension[OptionsT]):
    """Checks one kind of proof. All threads of a process share one instance."""

    code_recipients: ClassVar[frozenset[str] | None] = None
    """The kinds of recipients, ``email`` and ``mobile``, whose verification codes this method accepts.

    The core sends a login code only if a method accepts it. ``None``: unspecified; codes are sent to all
    kinds.
    """

    def __init__(self, options: OptionsT, proofs: Proofs) -> None:
        super().__init__(options)
        self.proofs = proofs

    @abstractmethod
    def authenticate(self, attempt: LoginAttempt) -> VerifiedCredential | None:
        """Return the verified credentials, or ``None`` if the attempt is not of this method's kind.

        Raises:
            LoginRejected: the attempt is of this method's kind, and its proof is wrong.
            LoginUnavailable: a required service is unavailable or misconfigured.
        """
