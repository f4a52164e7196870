"""Makes users together with what they log in by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from strongroom.audit.service import AuditEvent, AuditService
from strongroom.credentials.models import EMAIL, MOBILE, USERNAME
from strongroom.credentials.service import CredentialService
from strongroom.database import Database
from strongroom.errors import CodeInvalid, Detail, ValidationFailed
from strongroom.identity import Origin
from strongroom.plugin_api.login import Credential, VerificationCode
from strongroom.users.models import User, UserType
from strongroom.users.service import UserService
from strongroom.verification.codes import CodeService, Purpose


@dataclass(frozen=True, slots=True)
class Registration:
    """Who is to become a user. At least one of the three names is given."""

    name: str
    password: str = field(repr=False)
    email: str | None = None
    mobile: str | None = None
    username: str | None = None
    kind: UserType = UserType.USER


@dataclass(frozen=True, slots=True)
class Prepared:
    """A registration whose names are well formed and whose password is hashed."""

    name: str
    kind: UserType
    credentials: Sequence[Credential]
    password_hash: str = field(repr=False)


class RegistrationService:
    """Registers users.

    Args:
        database: where they are kept.
        users: makes the user.
        credentials: binds what the user logs in by.
        codes: proof that addresses and numbers are the user's.
        audit: the record of it.
    """

    def __init__(
        self,
        database: Database,
        users: UserService,
        credentials: CredentialService,
        codes: CodeService,
        audit: AuditService,
    ) -> None:
        self._database = database
        self._users = users
        self._credentials = credentials
        self._codes = codes
        self._audit = audit

    def register(
        self, registration: Registration, codes: Sequence[VerificationCode], origin: Origin
    ) -> User:
        """Make a user whose e-mail address and mobile number each have a code to prove them.

        Raises:
            ValidationFailed: a name is malformed, none is given, or the password is weak.
            CodeInvalid: an address or number has no code, or a wrong one.
            CredentialTaken: somebody has one of the names already.
        """
        prepared = self.prepare(registration)
        self._require_codes(prepared.credentials, codes)
        with self._database.write() as connection:
            return self.add(connection, prepared, origin)

    def create(self, registration: Registration, origin: Origin) -> User:
        """Make a user whose names are taken as proven.

        Raises:
            ValidationFailed: a name is malformed, none is given, or the password is weak.
            CredentialTaken: somebody has one of the names already.
        """
        prepared = self.prepare(registration)
        with self._database.write() as connection:
            return self.add(connection, prepared, origin)

    def prepare(self, registration: Registration) -> Prepared:
        """Judge a registration, outside of a transaction, for hashing the password takes long.

        Raises:
            ValidationFailed: a name is malformed, none is given, or the password is weak.
        """
        credentials = self._credentials_of(registration)
        password_hash = self._credentials.hash_password(registration.password)
        return Prepared(registration.name, registration.kind, credentials, password_hash)

    def add(self, connection: Connection, prepared: Prepared, origin: Origin) -> User:
        """Make a user whose names are taken as proven.

        Raises:
            CredentialTaken: somebody has one of the names already.
        """
        user = self._users.create(connection, prepared.name, prepared.kind)
        for credential in prepared.credentials:
            self._credentials.bind(connection, user.id, credential)
        self._credentials.set_password(connection, user.id, prepared.password_hash)
        event = AuditEvent(
            "user.create",
            actor_id=user.id,
            target_type="user",
            target_id=user.id,
            origin=origin,
            details={"type": user.type},
        )
        self._audit.record(connection, event)
        return user

    def _require_codes(
        self, credentials: Sequence[Credential], codes: Sequence[VerificationCode]
    ) -> None:
        recipients = self._codes.recipients(codes)
        by_recipient = {recipients[code.id]: code for code in codes if code.id in recipients}
        proven = [credential for credential in credentials if credential.kind != USERNAME]
        # All codes must be there before the first is used up.
        if any(credential not in by_recipient for credential in proven):
            raise CodeInvalid
        for credential in proven:
            self._codes.require(by_recipient[credential], credential, Purpose.REGISTER)

    def _credentials_of(self, registration: Registration) -> list[Credential]:
        given = {EMAIL: registration.email, MOBILE: registration.mobile, USERNAME: registration.username}
        texts = {kind: text for kind, text in given.items() if text is not None}
        if not texts:
            message = "At least one of email, mobile and username is needed."
            raise ValidationFailed.of_field("email", "required", message)
        return identified(self._credentials, texts)


def identified(credentials: CredentialService, texts: Mapping[str, str]) -> list[Credential]:
    """Return the credentials that texts spell, given by the kind that each should be of.

    Raises:
        ValidationFailed: a text spells no credential of its kind.
    """
    found = {kind: credentials.identify(text) for kind, text in texts.items()}
    wrong = [kind for kind, item in found.items() if not item or item.kind != kind]
    if wrong:
        raise ValidationFailed(details=[Detail(kind, "invalid", _EXPECTED[kind]) for kind in wrong])
    return [credential for credential in found.values() if credential is not None]


_EXPECTED: Mapping[str, str] = {
    EMAIL: "Must be an e-mail address.",
    MOBILE: "Must be a mobile number, with its country code if it is from elsewhere.",
    USERNAME: "Must have 3 to 64 letters, digits, dots, underscores or hyphens, a letter first.",
}
