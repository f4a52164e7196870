"""Second factors: proofs that the core requires after the first one, whatever the login method.

A factor keeps nothing itself. It returns data, which the core encrypts, stores and hands back, and
replaces in the transaction of the login: so each proof counts once, also if a client sends it to several
servers at the same time. The core limits the tries, ends the challenge, informs the user, and writes the
audit log, the same for every factor::

    class Riddle(SecondFactor[NoOptions]):
        name = "riddle"

        def begin_enrolment(self, user, enrolled):
            return Ceremony()

        def enrol(self, ceremony, answer):
            return Enrolment({"answer": answer})

        def verify(self, enrolled, ceremony, answer):
            for each in enrolled:
                if hmac.compare_digest(each.data["answer"], answer):
                    return FactorProof(each.id, Assurance(("kba",)), each.data)
            return None

        @hookimpl
        def register_second_factors():
            return [Riddle]
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from strongroom.plugin_api.extension import Extension, OptionsT
from strongroom.plugin_api.forms import FactorForm
from strongroom.plugin_api.login import Assurance

Json = Mapping[str, Any]
"""A JSON object."""


def member_name(factor: str) -> str:
    """Return the JSON member of a factor's answer: its name in camel case."""
    first, *others = factor.split("_")
    return first + "".join(word.capitalize() for word in others)


def factor_kind(factor: str) -> str:
    """Return the kind that responses and requests name: ``recovery-code`` of ``recovery_code``."""
    return factor.replace("_", "-")


class FactorRejected(Exception):
    """The answer to an enrolment is wrong. The message states what would be right."""


class FactorAlarm(Exception):
    """An answer is right, but indicates a copy of the factor; it is refused.

    The core refuses it like any wrong answer, writes an audit event ``FACTOR.REASON``, and informs the
    user. The enrolment stays, because the user decides whether to remove it.

    Args:
        reason: one or more words with hyphens, such as ``counter-regressed``.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class FactorUser:
    """The user of a ceremony.

    Args:
        id: the user's id.
        account: a name that the user recognises: an e-mail address, a mobile number or a username.
        name: the display name, which may be empty.
        handle: 64 bytes in base64url without padding, for protocols that name the user to a device. It
            is permanent, the same for all factors, and reveals nothing about the user.
    """

    id: str
    account: str
    name: str = ""
    handle: str = ""


@dataclass(frozen=True, slots=True)
class Ceremony:
    """The server's part of an enrolment or of a challenge.

    Args:
        shown: members for the client, such as a secret to scan or the options of a browser's API.
        state: kept by the server until the answer arrives, and never sent.
    """

    shown: Json = field(default_factory=dict, repr=False)
    state: Json = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Enrolment:
    """An enrolled factor.

    Args:
        data: what :meth:`SecondFactor.verify` needs; the core stores it encrypted.
        shown: members of the response, which the client receives only once.
        handle: what :meth:`PasswordlessFactor.get_handle` finds in the answers of this enrolment. The
            core refuses an enrolment whose handle any user has already.
    """

    data: Json = field(repr=False)
    shown: Json = field(default_factory=dict, repr=False)
    handle: str | None = None


@dataclass(frozen=True, slots=True)
class EnrolledFactor:
    """An enrolment as stored: its id, and the data of the last :class:`FactorProof` or of enrolment."""

    id: str
    data: Json = field(repr=False)


@dataclass(frozen=True, slots=True)
class FactorProof:
    """A right answer.

    Args:
        enrolment_id: the enrolment that it proves.
        assurance: what the answer alone proves; the core combines it with the first proof.
        data: replaces the data of the enrolment. Of several concurrent proofs of one enrolment only one
            counts, so data that excludes the answer from now on makes it valid once.
    """

    enrolment_id: str
    assurance: Assurance
    data: Json = field(repr=False)


class SecondFactor(Extension[OptionsT]):
    """One kind of second factor. All threads of a process share one instance.

    In REST, the name ``recovery_code`` becomes the kind ``recovery-code`` and, in the answer to a
    challenge, the member ``recoveryCode``.
    """

    is_backup: ClassVar[bool] = False
    """Whether it only replaces other factors, such as recovery codes. A backup alone is never asked for,
    and is removed with the last other factor."""

    may_repeat: ClassVar[bool] = False
    """Whether a user may enrol several; otherwise a new enrolment replaces the one before."""

    form: FactorForm | None = FactorForm()
    """Its form on pages; the generic one has a field for a code. ``None``: pages cannot ask for it, so a
    server with login pages refuses to start. A :class:`PasswordlessFactor` needs a form of its own,
    because no user can type its answers."""

    @abstractmethod
    def begin_enrolment(self, user: FactorUser, enrolled: Sequence[EnrolledFactor], /) -> Ceremony:
        """Begin the enrolment of a user, who has given a fresh proof.

        Args:
            user: the user.
            enrolled: the user's enrolments of this kind.
        """

    @abstractmethod
    def enrol(self, ceremony: Ceremony, answer: Any, /) -> Enrolment:
        """Check the client's answer to :meth:`begin_enrolment`, and return the enrolment.

        Args:
            ceremony: the result of :meth:`begin_enrolment`.
            answer: any JSON value that the client sent; may be of a wrong type.

        Raises:
            FactorRejected: the answer is wrong; the client may try again.
        """

    def begin_challenge(self, _enrolled: Sequence[EnrolledFactor], /) -> Ceremony:
        """Begin a challenge of a user with these enrolments. Most factors have nothing to begin."""
        return Ceremony()

    @abstractmethod
    def verify(
        self, enrolled: Sequence[EnrolledFactor], ceremony: Ceremony, answer: Any, /
    ) -> FactorProof | None:
        """Return the proof if the answer is right for one of the enrolments, else ``None``.

        Args:
            enrolled: the user's enrolments of this kind, at least one.
            ceremony: the result of :meth:`begin_challenge`.
            answer: any JSON value that the client sent; may be of a wrong type.

        Raises:
            FactorAlarm: the answer is right, but indicates a copy of the factor.
        """

    def imported(self, _described: Any, /) -> Enrolment:
        """Return the enrolment of a user who comes from another system; by default there is none.

        Args:
            described: the JSON value of the import, such as a secret; may be of a wrong type.

        Raises:
            FactorRejected: it is malformed, or the factor cannot be imported.
        """
        raise FactorRejected("Users cannot be imported with this factor.")

    def exported(self, _enrolled: EnrolledFactor, /) -> Any:
        """Return what :meth:`imported` of another server accepts; ``None`` if it cannot be exported."""
        return None

    def summary(self, _user: FactorUser, _enrolled: Sequence[EnrolledFactor], /) -> Json:
        """Return members for the user's own list of factors of this kind; most factors have none."""
        return {}


@dataclass(frozen=True, slots=True)
class Site:
    """The server as browsers see it.

    Args:
        public_url: the public URL, without a trailing slash.
    """

    public_url: str


class PasswordlessFactor(SecondFactor[OptionsT]):
    """A factor whose answers also name the enrolment, so that it can replace the first proof.

    The core refuses a login with it alone if the assurance of the proof is ``SINGLE_FACTOR``.

    Args:
        site: the server.
    """

    def __init__(self, options: OptionsT, site: Site) -> None:
        super().__init__(options)
        self.site = site

    @classmethod
    def fits(cls, options: OptionsT, site: Site) -> bool:  # noqa: ARG003  for overriding
        """Return whether browsers can use it on this server.

        A factor of the default configuration that does not fit is left out. One that the configuration
        names is constructed in any case, and refuses what it cannot use.
        """
        return True

    @abstractmethod
    def begin_login(self) -> Ceremony | None:
        """Begin a login without a first proof, of a user who is not known yet.

        Returns ``None`` if the configuration accepts the factor only after another proof.
        """

    @abstractmethod
    def get_handle(self, answer: Any, /) -> str | None:
        """Return the :attr:`Enrolment.handle` that an answer names, or ``None``.

        The core passes the answer and the enrolment with this handle to :meth:`SecondFactor.verify`.

        Args:
            answer: any JSON value that the client sent; may be of a wrong type.
        """


@dataclass(frozen=True, slots=True)
class OpenEnrolment:
    """An enrolment that waits for the user's answer.

    Args:
        id: names it when the answer arrives.
        expires_at: milliseconds since the Unix epoch.
        shown: :attr:`Ceremony.shown`.
    """

    id: str
    expires_at: int
    shown: Json = field(repr=False)


@dataclass(frozen=True, slots=True)
class FactorInfo:
    """An enrolment of a user, without its secrets. Times are in milliseconds since the Unix epoch."""

    id: str
    kind: str
    name: str
    is_backup: bool
    created_at: int
    last_used_at: int | None


class FactorsAPI(ABC):
    """Second factors of the caller, for routes that are named after one of them.

    The core's routes for all factors (``/users/{userId}/factors``) have the same rules: the caller is
    the user, has given a fresh proof, and is informed of each change. ``user_id`` is an id or ``me``.
    The errors of all methods are
    :attr:`HostErrors.FACTORS <strongroom.plugin_api.web.HostErrors.FACTORS>`. A route that changes a
    factor has ``sensitive=Sensitive.FACTORS``, and the headers with a fresh proof,
    :data:`~strongroom.plugin_api.web.PROOF_PARAMETERS`, in its ``document``.
    """

    @abstractmethod
    def begin(self, user_id: str, factor: str, name: str = "") -> OpenEnrolment:
        """Begin the enrolment in the factor with this :attr:`SecondFactor.name`."""

    @abstractmethod
    def confirm(
        self,
        user_id: str,
        enrolment_id: str,
        answer: Any,
        *,
        member: str,
        name: str | None = None,
        with_recovery_codes: bool = False,
    ) -> tuple[FactorInfo, Json]:
        """Finish an enrolment; return it, and what the client receives only once.

        Args:
            user_id: the user.
            enrolment_id: the :attr:`OpenEnrolment.id`.
            answer: any JSON value that the client sent.
            member: the member of the request that has the answer, for errors.
            name: replaces the name that the enrolment was begun with.
            with_recovery_codes: whether a user without recovery codes gets them, as the member
                ``recoveryCodes`` of the second result.
        """

    @abstractmethod
    def list(self, user_id: str, factor: str) -> Sequence[FactorInfo]:
        """Return the enrolments in a factor, oldest first; administrators may name other users."""

    @abstractmethod
    def get(self, user_id: str, factor: str, factor_id: str) -> FactorInfo:
        """Return an enrolment in a factor; administrators may name other users."""

    @abstractmethod
    def rename(self, user_id: str, factor: str, factor_id: str, name: str) -> FactorInfo:
        """Rename an enrolment in a factor."""

    @abstractmethod
    def remove(self, user_id: str, factor: str, factor_id: str) -> None:
        """Remove an enrolment in a factor."""

    @abstractmethod
    def begin_login(self, factor: str) -> OpenEnrolment:
        """Begin a login by a :class:`PasswordlessFactor`, like ``POST /authorizations/challenges``."""
