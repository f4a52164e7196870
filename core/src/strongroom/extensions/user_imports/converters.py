"""Converts exports of other systems to the lines of an import."""

import base64
import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import IO, Any, Final

Json = dict[str, Any]
Convert = Callable[[IO[str], Json], Iterator[Json]]
"""Yields the lines of an export. The second argument has the parameters of the project's hashes."""


class ExportMalformed(ValueError):
    """The file is no export of the stated system. The message states what would be right."""


def from_auth0(export: IO[str], _parameters: Json) -> Iterator[Json]:
    """Convert an export of the support of Auth0: a JSON object per line."""
    for user in _objects(_json_lines(export)):
        identifier = user.get("alt_id") or _member(user.get("_id"), "$oid")
        yield _line(
            externalId=identifier and f"auth0|{identifier}",
            name=user.get("name"),
            email=user.get("email"),
            emailVerified=user.get("email_verified"),
            username=user.get("username"),
            password=_hash("bcrypt", user.get("passwordHash")),
        )


def from_firebase(export: IO[str], parameters: Json) -> Iterator[Json]:
    """Convert the JSON of ``firebase auth:export``; passwords need the parameters of the project."""
    for user in _objects(_document(export, "users")):
        password = _hash("firebase", _standard(user.get("passwordHash")))
        yield _line(
            externalId=user.get("localId"),
            name=user.get("displayName"),
            email=user.get("email"),
            emailVerified=user.get("emailVerified"),
            mobile=user.get("phoneNumber"),
            # Firebase has only numbers that a code has proven.
            mobileVerified="phoneNumber" in user or None,
            status="suspended" if user.get("disabled") else None,
            createdAt=_of_milliseconds(user.get("createdAt")),
            serverMetadata=_parsed(user.get("customAttributes")),
            password=password and {**password, "salt": _standard(user.get("salt")), **parameters},
        )


def from_keycloak(export: IO[str], _parameters: Json) -> Iterator[Json]:
    """Convert the export of a realm of Keycloak, with its users."""
    for user in _objects(_document(export, "users")):
        credentials = {item.get("type"): item for item in _objects(user.get("credentials", []))}
        password = credentials.get("password", {})
        names = (user.get("firstName"), user.get("lastName"))
        yield _line(
            externalId=user.get("id"),
            name=" ".join(name for name in names if name) or None,
            email=user.get("email"),
            emailVerified=user.get("emailVerified"),
            username=_username(user.get("username")),
            status="suspended" if user.get("enabled") is False else None,
            createdAt=_of_milliseconds(user.get("createdTimestamp")),
            serverMetadata={"attributes": user["attributes"]} if user.get("attributes") else None,
            totp=_app_secret(credentials.get("otp", {})),
            password=password
            and {
                "algorithm": "keycloak",
                "credentialData": password.get("credentialData"),
                "secretData": password.get("secretData"),
            },
        )


def from_supabase(export: IO[str], _parameters: Json) -> Iterator[Json]:
    """Convert a CSV file, with a header, of the table ``auth.users`` of Supabase."""
    for user in csv.DictReader(export):
        if user.get("deleted_at"):
            continue
        yield _line(
            externalId=user.get("id"),
            email=user.get("email"),
            emailVerified=bool(user.get("email_confirmed_at")),
            mobile=user.get("phone") and f"+{user['phone'].lstrip('+')}",
            mobileVerified=bool(user.get("phone_confirmed_at")),
            status="suspended" if _is_future(user.get("banned_until")) else None,
            createdAt=_of_text(user.get("created_at")),
            metadata=_parsed(user.get("raw_user_meta_data")),
            serverMetadata=_parsed(user.get("raw_app_meta_data")),
            password=_hash("bcrypt", user.get("encrypted_password")),
        )


def from_django(export: IO[str], _parameters: Json) -> Iterator[Json]:
    """Convert ``dumpdata auth.user`` of Django, or a CSV file, with a header, of its table."""
    for user in _django_users(export):
        stored = str(user.get("password") or "")
        names = (user.get("first_name"), user.get("last_name"))
        yield _line(
            externalId=str(user["id"]) if user.get("id") else None,
            name=" ".join(name for name in names if name) or None,
            email=user.get("email"),
            username=_username(user.get("username")),
            status="suspended" if str(user.get("is_active")).lower() in ("false", "f", "0") else None,
            createdAt=_of_text(user.get("date_joined")),
            # Django marks accounts without a password by an exclamation mark.
            password=None if stored.startswith("!") else _hash("django", stored),
        )


def from_wordpress(export: IO[str], _parameters: Json) -> Iterator[Json]:
    """Convert ``wp user list --fields=ID,user_login,...,user_pass`` of WordPress: JSON or CSV."""
    for user in _rows(export):
        yield _line(
            externalId=str(user["ID"]) if user.get("ID") else None,
            name=user.get("display_name"),
            email=user.get("user_email"),
            username=_username(user.get("user_login")),
            createdAt=_of_text(user.get("user_registered")),
            password=_hash("wordpress", user.get("user_pass")),
        )


CONVERTERS: Final[Mapping[str, Convert]] = {
    "auth0": from_auth0,
    "django": from_django,
    "firebase": from_firebase,
    "keycloak": from_keycloak,
    "supabase": from_supabase,
    "wordpress": from_wordpress,
}
"""The converters by the name of the system."""


def _line(**members: Any) -> Json:
    """Return a line without the members that the export does not have."""
    return {name: value for name, value in members.items() if value not in (None, "", {})}


def _hash(algorithm: str, stored: Any) -> Json | None:
    return {"algorithm": algorithm, "hash": stored} if stored else None


def _username(text: Any) -> str | None:
    """Return a username, unless it is an address, which the line has as such."""
    return text if isinstance(text, str) and "@" not in text else None


def _standard(text: Any) -> Any:
    """Return base64 in its standard alphabet; the Admin SDK of Firebase exports the other one."""
    return text.replace("-", "+").replace("_", "/") if isinstance(text, str) else text


def _app_secret(credential: Json) -> str | None:
    """Return the secret of an authenticator app of Keycloak, if it is of the kind that we verify."""
    data = _parsed(credential.get("credentialData")) or {}
    kind = data.get("subType"), data.get("algorithm"), data.get("digits"), data.get("period")
    secret = (_parsed(credential.get("secretData")) or {}).get("value")
    if kind != ("totp", "HmacSHA1", 6, 30) or not isinstance(secret, str):
        return None
    return base64.b32encode(secret.encode()).decode().rstrip("=")


def _of_milliseconds(value: Any) -> str | None:
    return datetime.fromtimestamp(int(value) / 1000, UTC).isoformat() if value else None


def _of_text(text: str | None) -> str | None:
    """Return a time of a database, in UTC unless it states an offset, in ISO 8601."""
    moment = _moment(text)
    return moment.isoformat() if moment else None


def _is_future(text: str | None) -> bool:
    moment = _moment(text)
    return moment is not None and moment > datetime.now(UTC)


def _moment(text: str | None) -> datetime | None:
    if not text:
        return None
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _parsed(text: Any) -> Any:
    return json.loads(text) if text else None


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else value


def _json_lines(export: IO[str]) -> Iterator[Any]:
    return (json.loads(line) for line in export if line.strip())


def _document(export: IO[str], member: str) -> Any:
    document = json.load(export)
    users = document.get(member) if isinstance(document, dict) else None
    if not isinstance(users, list):
        raise ExportMalformed(f"the file must be a JSON object with the list {member}")
    return users


def _objects(items: Iterable[Any]) -> Iterator[Json]:
    for item in items:
        if not isinstance(item, dict):
            raise ExportMalformed("each user must be a JSON object")
        yield item


def _rows(export: IO[str]) -> Iterator[Json]:
    """Yield the objects of a JSON list, or the rows of a CSV file with a header."""
    text = export.read()
    if text.lstrip().startswith("["):
        return _objects(json.loads(text))
    return csv.DictReader(text.splitlines())


def _django_users(export: IO[str]) -> Iterator[Json]:
    for row in _rows(export):
        # A dump may also have permissions and groups; custom models of users have other names.
        if "fields" not in row:
            yield row
        elif "password" in row["fields"]:
            yield {"id": row.get("pk"), **row["fields"]}
