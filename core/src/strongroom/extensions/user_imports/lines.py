"""The lines of an import: split with bounded memory, and parsed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from strongroom.clock import Clock
from strongroom.extensions.user_imports.schemas import UserLineSchema
from strongroom.foundation.errors import Detail, MalformedRequest, ValidationFailed
from strongroom.identity.users.bulk import NewCredential
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import SINGLE_KINDS, USERNAME
from strongroom.identity.users.password_hashing import KeyMismatch, StoredPassword
from strongroom.identity.users.passwords import UserPasswords
from strongroom.plugin_api.factors import Enrolment, FactorRejected, SecondFactor
from strongroom.plugin_api.login import Credential
from strongroom.plugin_api.password_schemes import HashRejected
from strongroom.plugin_api.storage import ByteSource
from strongroom.web.http.parsing import load, parse_json

MAX_LINE: Final = 64 * 1024
"""The maximum length of a line in bytes."""

FACTOR: Final = "totp"
"""The second factor that lines may have, and their member for it."""

_BLOCK: Final = 64 * 1024
_BOM: Final = b"\xef\xbb\xbf"
_PROVIDER: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an import. A longer one than :data:`MAX_LINE` is cut after one byte more."""

    number: int
    content: bytes


@dataclass(frozen=True, slots=True)
class UserLine:
    """A valid line.

    Args:
        values: its members by their names in Python; absent ones are missing.
    """

    number: int
    values: Json
    credentials: Sequence[NewCredential]
    password: StoredPassword | None = None
    factor: Enrolment | None = None

    @property
    def external_id(self) -> str | None:
        """The id in the other system."""
        external_id: str | None = self.values.get("external_id")
        return external_id


def split_lines(source: ByteSource) -> Iterator[Line]:
    """Yield all lines, also empty ones; at most a block and a line are in memory."""
    number, rest = 0, b""
    while block := source.read(_BLOCK):
        *whole, rest = (rest + block).split(b"\n")
        for content in whole:
            number += 1
            yield _line(number, content)
        # Only the beginning of a line that is too long is needed, to refuse it.
        rest = rest[: MAX_LINE + 1]
    if rest:
        yield _line(number + 1, rest)


def _line(number: int, content: bytes) -> Line:
    # Editors of Windows begin files with a byte order mark.
    return Line(number, (content.removeprefix(_BOM) if number == 1 else content)[: MAX_LINE + 1])


@dataclass(slots=True, eq=False, repr=False)
class LineParser:
    """Parses lines, and checks all that needs no other user.

    Args:
        factors: the enabled second factors by name.
    """

    _clock: Clock
    _credentials: CredentialService
    _passwords: UserPasswords
    _factors: Mapping[str, SecondFactor[Any]]

    def parse(self, line: Line) -> UserLine:
        """Return the user of a line. Slow for passwords and digests, which are hashed.

        Raises:
            ValidationFailed: the line is not valid; its details name all faults of the first kind.
            Unavailable: too many hashes are waiting.
        """
        values = _loaded(line.content)
        faults = list(self._faults(values))
        credentials = [*self._identified(values, faults), *_identities(values, faults)]
        if faults:
            raise ValidationFailed(details=faults)
        # Last, because hashing is slow.
        factor = self._factor(values.get(FACTOR))
        return UserLine(line.number, values, credentials, self._password(values.get("password")), factor)

    def _faults(self, values: Json) -> Iterator[Detail]:
        if not 0 <= values.get("created_at", 0) <= self._clock.now():
            yield Detail("createdAt", "invalid", "Must be between 1970 and now.")

    def _identified(self, values: Json, faults: list[Detail]) -> Iterator[NewCredential]:
        for kind in SINGLE_KINDS:
            text = values.get(kind)
            if text is None:
                continue
            credential = self._credentials.identify(text)
            if credential is None or credential.kind != kind:
                faults.append(Detail(kind, "invalid", _EXPECTED[kind]))
            else:
                yield NewCredential(
                    credential, kind == USERNAME or values.get(f"{kind}_verified", False)
                )

    def _password(self, described: Any) -> StoredPassword | None:
        if described is None:
            return None
        if isinstance(described, str):
            return self._passwords.hash_password(described)
        if not isinstance(described, dict):
            raise ValidationFailed.of_field("password", "invalid", "Must be a hash or a password.")
        try:
            return self._passwords.imported_password(described)
        except HashRejected as error:
            code = "other-key" if isinstance(error, KeyMismatch) else "invalid"
            raise ValidationFailed.of_field("password", code, str(error)) from error

    def _factor(self, described: Any) -> Enrolment | None:
        if described is None:
            return None
        factor = self._factors.get(FACTOR)
        if factor is None:
            raise ValidationFailed.of_field(FACTOR, "unsupported", "No enabled plugin has this factor.")
        try:
            return factor.imported(described)
        except FactorRejected as error:
            raise ValidationFailed.of_field(FACTOR, "invalid", str(error)) from error


_EXPECTED: Final[Mapping[str, str]] = {
    "email": "Must be an e-mail address.",
    "mobile": "Must be a mobile number, with country code if it is a foreign one.",
    "username": "Must be 3 to 64 letters, digits, dots, underscores or hyphens; a letter first.",
}


def _loaded(content: bytes) -> Json:
    """Return the members of a line."""
    if len(content) > MAX_LINE:
        raise ValidationFailed.of_field("", "too-long", f"May have at most {MAX_LINE} bytes.")
    try:
        content.decode()
    except UnicodeDecodeError as error:
        raise ValidationFailed.of_field("", "encoding", "Must be UTF-8.") from error
    try:
        parsed = parse_json(content)
    except MalformedRequest as error:
        raise ValidationFailed.of_field("", "malformed", "Must be a JSON object.") from error
    if not isinstance(parsed, dict):
        raise ValidationFailed.of_field("", "malformed", "Must be a JSON object.")
    values: Json = load(UserLineSchema, parsed)
    # A member that is null says nothing, as in exports of databases.
    return {name: value for name, value in values.items() if value is not None}


def _identities(values: Json, faults: list[Detail]) -> Iterator[NewCredential]:
    """Yield the accounts of login methods: their kind is the provider, their value the subject."""
    seen: set[Credential] = set()
    for number, identity in enumerate(values.get("identities", ())):
        credential = Credential(identity["provider"], identity["subject"])
        if credential.kind in SINGLE_KINDS or not _PROVIDER.fullmatch(credential.kind):
            message = "Must be a kind of credentials of a login method."
            faults.append(Detail(f"identities.{number}.provider", "invalid", message))
        elif credential in seen:
            faults.append(Detail(f"identities.{number}", "duplicate", "The account is there twice."))
        else:
            seen.add(credential)
            yield NewCredential(credential, is_verified=True)
