"""Login methods: how a client proves who it is.

A method looks at an attempt and answers which credential was proven. Finding or creating the user,
throttling, captchas, the audit record and the token are the core's, and the same on every path.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from strongroom.plugin_api.extension import Extension, OptionsT


@dataclass(frozen=True, slots=True)
class Credential:
    """A name that leads to one user.

    ``kind`` is ``email``, ``mobile``, ``username`` or a kind of the plugin's own; ``value`` is the
    normalised form (a lowercase address, an E.164 number, ``platform:id``).
    """

    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class VerificationCode:
    """A code that a message brought to its recipient, with the id it was sent under."""

    id: str
    code: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Client:
    """Where an attempt comes from: network address, User-Agent, and the device's id if it sent one."""

    address: str
    user_agent: str = ""
    device_id: str | None = None


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """What a client sent to prove who it is.

    ``proof`` carries whatever a method with an endpoint of its own needs; such an endpoint also
    names its ``method``: the core then asks no other.
    """

    client: Client
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    verification_code: VerificationCode | None = None
    method: str | None = None
    proof: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class VerifiedCredential:
    """The credential that an attempt has proven.

    Args:
        credential: the one proven.
        also: others proven by the same act, such as a union id, or a phone number that the platform
            has verified. Never put what was merely claimed here. All lead to one user: whoever holds
            any of them is given those that nobody holds, and it is a conflict if two users do.
        may_register: whether a user may be created when no user holds any of them.
        display_name: a name for such a new user.
    """

    credential: Credential
    also: tuple[Credential, ...] = ()
    may_register: bool = False
    display_name: str | None = None


class LoginRejected(Exception):
    """The attempt was meant for this method, and does not prove anything.

    Args:
        code: the stable error code the client gets: ``error.invalid-credentials``, or one that the
            plugin has registered, whose status and message go with it.
    """

    def __init__(self, message: str, *, code: str = "error.invalid-credentials") -> None:
        super().__init__(message)
        self.code = code


class LoginUnavailable(Exception):
    """Whether the attempt proves anything cannot be told now; the client gets status 503.

    Args:
        message: one line for the operator's log, without anything secret.
        retry_after: seconds after which trying again may help.
        misconfigured: whether only the operator can mend it.
    """

    def __init__(self, message: str, *, retry_after: int, misconfigured: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.misconfigured = misconfigured


class Proofs(Protocol):
    """What the core lends to a method to check proofs that the core itself keeps."""

    def identify(self, text: str) -> Credential | None:
        """Return the e-mail address, mobile number or username that ``text`` spells, normalised."""

    def check_password(self, username: str, password: str) -> Credential | None:
        """Return the credential if the password is its user's. The time taken tells nothing."""

    def spend_code(self, code: VerificationCode, recipient: str, purpose: str) -> Credential | None:
        """Consume a verification code; return its recipient's credential if the code was right."""


class LoginMethod(Extension[OptionsT]):
    """Recognises one kind of proof. One instance serves all threads of a process at once."""

    code_recipients: ClassVar[frozenset[str] | None] = None
    """The kinds of recipients, ``email`` and ``mobile``, whose verification codes log in by this method.

    The core sends no login codes that no method accepts. ``None``: the method does not say, and codes
    are sent to all.
    """

    def __init__(self, options: OptionsT, proofs: Proofs) -> None:
        super().__init__(options)
        self.proofs = proofs

    @abstractmethod
    def authenticate(self, attempt: LoginAttempt) -> VerifiedCredential | None:
        """Return what the attempt proves, or ``None`` when it is not of this method's kind.

        Raises:
            LoginRejected: it is of this method's kind, and proves nothing.
            LoginUnavailable: whoever could tell is away, or misconfigured.
        """
