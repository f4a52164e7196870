"""Login methods: the ways in which a client authenticates.

A method checks an attempt and returns the verified credential. The core finds or creates the user,
throttles, requires captchas, writes the audit log and issues the tokens, the same for every method.
"""

import re
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Protocol

from strongroom.plugin_api.backoff import RETRY_AFTER_SECONDS
from strongroom.plugin_api.extension import Extension, OptionsT


@dataclass(frozen=True, slots=True)
class Credential:
    """A name that identifies one user.

    ``kind`` is ``email``, ``mobile``, ``username`` or a kind that a plugin defines. ``value`` is the
    normalised form (a lowercase address, an E.164 number, ``platform:id``), by which credentials are
    compared.

    Args:
        written: an e-mail address as its user wrote it; ``None`` if it is the value. It is not compared.
    """

    kind: str
    value: str
    written: str | None = field(default=None, compare=False)

    @property
    def address(self) -> str:
        """What messages are sent to, and people see: the address as its user wrote it."""
        return self.written or self.value


CONTACT_KINDS: Final = ("email", "mobile")
"""The kinds of credentials that messages are sent to."""


@dataclass(frozen=True, slots=True)
class Contact:
    """An e-mail address or mobile number that a platform states about a person.

    It identifies a user, and becomes a credential, only if it is both proven and trusted.

    Args:
        credential: of the kind ``email`` or ``mobile``.
        is_proven: whether the platform says that the person has proven it. ``False`` for a contact that
            an administrator can enter there.
        is_trusted: whether the operator has agreed to it by an option, such as ``trust_email``, whose
            default is ``False``.

    Raises:
        ValueError: the credential is no contact.
    """

    credential: Credential
    is_proven: bool = False
    is_trusted: bool = False

    def __post_init__(self) -> None:
        if self.credential.kind not in CONTACT_KINDS:
            raise ValueError(f"{self.credential.kind!r} is no kind of contacts")

    @property
    def counts(self) -> bool:
        """Whether it may identify a user."""
        return self.is_proven and self.is_trusted


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


# PostgreSQL has no null character, and UTF-8 no half of a surrogate pair.
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
MAX_CREDENTIAL: Final = 255
"""The maximum length of the value of a verified credential."""

MAX_SESSION: Final = 255
"""The maximum length of :attr:`VerifiedCredential.session`."""

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
        also: further ids of the person that are proven at the same time, such as a union id. All
            credentials must belong to one user: the core binds the unbound ones to that user, and
            reports a conflict if they belong to two users.
        contacts: the e-mail address and mobile number that the platform states. Those that are proven
            and trusted count like ``also``, except that the core reports a conflict if only a contact
            leads to a user who has not verified it, or who is an administrator.
        may_register: whether to create a user if none of the credentials is bound.
        display_name: the name of such a new user.
        assurance: how strongly the attempt proves them.
        session: the id of the session at the platform, at most :data:`MAX_SESSION` characters, unique
            among the sessions of the method; ``host.logins`` ends logins by it.
        context: small JSON values for :meth:`LoginMethod.logged_in`, kept sealed while the login waits
            for further proofs, and not stored with the login.
        is_invited: whether the person counts as invited, so that a user is also created with
            ``[users] registration = "invited"``. API 2.0.

    Raises:
        LoginUnavailable: the value of a credential is empty, longer than :data:`MAX_CREDENTIAL`, or has
            the null character or half of a surrogate pair, which no database stores. It is an id from
            an answer of the platform, so the client cannot correct it.
        ValueError: the session is too long, or has the null character; or ``also`` has a contact.
    """

    credential: Credential
    also: tuple[Credential, ...] = ()
    contacts: tuple[Contact, ...] = ()
    may_register: bool = False
    display_name: str | None = None
    assurance: Assurance = Assurance()
    session: str | None = None
    context: Mapping[str, Any] = field(default_factory=dict, repr=False)
    is_invited: bool = False

    def __post_init__(self) -> None:
        credentials = [self.credential]
        for credential in self.also:
            if credential.kind in CONTACT_KINDS:
                raise ValueError("an e-mail address or mobile number of a platform belongs in contacts")
            credentials.append(credential)
        if self.contacts:
            credentials += [contact.credential for contact in self.contacts]
        for credential in credentials:
            if not _is_storable(credential.value):
                message = f"the platform returned an invalid id for {credential.kind!r}"
                raise LoginUnavailable(message, retry_after=60)
        # PostgreSQL has no null character.
        if self.session is not None and (len(self.session) > MAX_SESSION or "\0" in self.session):
            raise ValueError(f"a session has at most {MAX_SESSION} characters")

    @property
    def further(self) -> tuple[Credential, ...]:
        """All credentials but the main one that identify the user: contacts if proven and trusted."""
        if not self.contacts:
            return self.also
        return (*self.also, *(contact.credential for contact in self.contacts if contact.counts))

    @classmethod
    def from_json(cls, members: Mapping[str, Any]) -> "VerifiedCredential":
        """Return the credential whose members ``dataclasses.asdict`` has made JSON of.

        The version before kept contacts in ``also``, without their proof: they count no more.
        """
        also = [Credential(**each) for each in members["also"]]
        former = [Contact(each) for each in also if each.kind in CONTACT_KINDS]
        stated = [
            Contact(**{**each, "credential": Credential(**each["credential"])})
            for each in members.get("contacts", ())
        ]
        assurance = members["assurance"]
        return cls(
            **{
                **members,
                "credential": Credential(**members["credential"]),
                "also": tuple(each for each in also if each.kind not in CONTACT_KINDS),
                "contacts": (*former, *stated),
                "assurance": Assurance(tuple(assurance["amr"]), assurance["acr"]),
            }
        )


def _is_storable(value: str) -> bool:
    return 0 < len(value) <= MAX_CREDENTIAL and _UNSTORABLE.search(value) is None


@dataclass(frozen=True, slots=True)
class NewLogin:
    """A login that a method has proven, and that has succeeded.

    Args:
        authorization_id: the id of the login.
        verified: what :meth:`LoginMethod.authenticate` has returned for it.
    """

    user_id: str
    authorization_id: str
    verified: VerifiedCredential


@dataclass(frozen=True, slots=True)
class LogoutRequest:
    """The logout of a browser from a login that a method has proven.

    Args:
        session: the session of :class:`VerifiedCredential`.
        return_url: the page of this server that the browser comes back to.
    """

    user_id: str
    session: str | None
    return_url: str


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

    def __init__(
        self, message: str, *, retry_after: int = RETRY_AFTER_SECONDS, misconfigured: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.misconfigured = misconfigured


@dataclass(frozen=True, slots=True)
class TermsOfUse:
    """What users accept when they register, as ``[pages]`` and ``[users] require_terms`` say.

    Args:
        version: what a registration states as ``acceptedTerms``.
        url: the terms of service.
        privacy_url: the privacy policy.
    """

    version: str
    url: str | None
    privacy_url: str | None


@dataclass(frozen=True, slots=True)
class LoginOptions:
    """How users log in, register, reset passwords and delete accounts, by the configuration.

    Args:
        methods: the names of the enabled login methods, such as ``password``.
        login_codes: the kinds of recipients, ``email`` and ``mobile``, that get codes to log in with.
        register_codes: those that get codes to register with.
        reset_codes: those that get codes for a new password.
        registration: the mode of ``[users] registration``: ``open``, ``invited`` or ``closed``.
        is_passwordless: whether a second factor, such as a passkey, logs in alone.
        terms: the terms that users accept when they register; ``None``: there are none.
        deletion_grace_days: days in which users can cancel the deletion of their accounts; 0: none.
        bind_codes: the kinds of recipients that get codes to prove a new contact.
    """

    methods: tuple[str, ...]
    login_codes: frozenset[str]
    register_codes: frozenset[str]
    reset_codes: frozenset[str]
    registration: str
    is_passwordless: bool
    terms: "TermsOfUse | None" = None
    deletion_grace_days: int = 0
    bind_codes: frozenset[str] = frozenset()


class Proofs(Protocol):
    """The core's checks of passwords and verification codes, for use by login methods."""

    def identify(self, text: str) -> Credential | None:
        """Return the normalised e-mail address, mobile number or username in ``text``, if any."""

    def check_password(self, username: str, password: str) -> Credential | None:
        """Return the credential if the password is its user's. The time reveals nothing."""

    def consume_code(
        self,
        code: VerificationCode,
        recipient: str,
        purpose: str,
        *,
        client: Client | None = None,
    ) -> Credential | None:
        """Consume a verification code; return its recipient's credential if the code is right.

        Args:
            client: the client of the attempt. The secret of the link in the same message counts as the
                code if this client has requested it; ``None``: only the code counts.
        """


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

    @classmethod
    def registers(cls, options: OptionsT) -> bool:  # noqa: ARG003  for overriding
        """Return whether a login by a credential that no user has may create a user.

        If it may not, the core sends no login code to such a recipient, and responds as if it had.
        """
        return True

    @abstractmethod
    def authenticate(self, attempt: LoginAttempt) -> VerifiedCredential | None:
        """Return the verified credentials, or ``None`` if the attempt is not of this method's kind.

        Raises:
            LoginRejected: the attempt is of this method's kind, and its proof is wrong.
            LoginUnavailable: a required service is unavailable or misconfigured.
        """

    def faults(self) -> Iterable[str]:
        """Return what the operator must correct, for ``strongroom doctor``; one line each.

        A method of a platform may send it a harmless request. A line has the remedy, and no secret.
        """
        return ()

    def warnings(self) -> Iterable[str]:
        """Return what is weaker than it could be, for ``strongroom doctor``; one line each.

        Logins succeed nevertheless. A line has the remedy, and no secret. Must send no request.
        """
        return ()

    def credential_prefixes(self) -> Mapping[str, Collection[str]]:
        """Return the beginnings of the credentials' values that it can verify, by kind.

        ``strongroom doctor`` warns about others, such as kinds of a provider that the configuration has
        no longer. Kinds that are absent are not examined.
        """
        return {}

    def logged_in(self, login: NewLogin) -> None:
        """Act on a login of this method, after it was committed.

        Also called for a login that had to wait for a second factor, a consent or a new password. The
        client waits for it. An error is logged, and does not fail the login.
        """

    def logout_url(self, logout: LogoutRequest) -> str | None:  # noqa: ARG002  for overriding
        """Return the page of the platform that ends the user's session there, if there is one.

        The login pages lead to it when the user logs out (OpenID Connect RP-Initiated Logout 1.0). An
        error is logged, and the logout goes on without the platform.
        """
        return None
