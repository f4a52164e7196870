"""Makes users together with what they log in by."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from strongroom.audit.service import AuditEvent, AuditService
from strongroom.credentials.models import EMAIL, MOBILE, USERNAME
from strongroom.credentials.service import CredentialService
from strongroom.database import Database
from strongroom.errors import Detail, ValidationFailed
from strongroom.identity import Origin
from strongroom.plugin_api.login import Credential
from strongroom.users.models import User, UserType
from strongroom.users.service import UserService


@dataclass(frozen=True, slots=True)
class Registration:
    """Who is to become a user. At least one of the three names is given."""

    name: str
    password: str = field(repr=False)
    email: str | None = None
    mobile: str | None = None
    username: str | None = None
    kind: UserType = UserType.USER


class RegistrationService:
    """Registers users.

    Args:
        database: where they are kept.
        users: makes the user.
        credentials: binds what the user logs in by.
        audit: the record of it.
    """

    def __init__(
        self, database: Database, users: UserService, credentials: CredentialService, audit: AuditService
    ) -> None:
        self._database = database
        self._users = users
        self._credentials = credentials
        self._audit = audit

    def register(self, registration: Registration, origin: Origin) -> User:
        """Make a user.

        Raises:
            ValidationFailed: a name is malformed, none is given, or the password is weak.
            CredentialTaken: somebody has one of the names already.
        """
        credentials = self._credentials_of(registration)
        password_hash = self._credentials.hash_password(registration.password)
        with self._database.write() as connection:
            user = self._users.create(connection, registration.name, registration.kind)
            for credential in credentials:
                self._credentials.bind(connection, user.id, credential)
            self._credentials.set_password(connection, user.id, password_hash)
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

    def _credentials_of(self, registration: Registration) -> list[Credential]:
        given = {EMAIL: registration.email, MOBILE: registration.mobile, USERNAME: registration.username}
        texts = {kind: text for kind, text in given.items() if text is not None}
        if not texts:
            message = "At least one of email, mobile and username is needed."
            raise ValidationFailed.of_field("email", "required", message)
        return self._identified(texts)

    def _identified(self, texts: Mapping[str, str]) -> list[Credential]:
        found = {kind: self._credentials.identify(text) for kind, text in texts.items()}
        wrong = [kind for kind, item in found.items() if not item or item.kind != kind]
        if wrong:
            raise ValidationFailed(details=[Detail(kind, "invalid", _EXPECTED[kind]) for kind in wrong])
        return [credential for credential in found.values() if credential is not None]


_EXPECTED: Mapping[str, str] = {
    EMAIL: "Must be an e-mail address.",
    MOBILE: "Must be a mobile number, with its country code if it is from elsewhere.",
    USERNAME: "Must have 3 to 64 letters, digits, dots, underscores or hyphens, a letter first.",
}
