"""Why a database cannot be used: the host, the password or the name is wrong, or it is away now."""

import re
from typing import Final

from sqlalchemy import URL
from sqlalchemy.exc import SQLAlchemyError

from strongroom.cli.service_faults import ServiceFault

_UNKNOWN_HOST: Final = re.compile(r"failed to resolve host|could not translate host name")
_WRONG_LOGIN: Final = re.compile(
    r"authentication failed|no password supplied|role .* does not exist|pg_hba"
)
_NO_DATABASE: Final = re.compile(r'database "[^"]*" does not exist')
_LOCKED: Final = "database is locked"
_DEFAULT_PORT: Final = 5432


def database_fault_of(url: URL, error: SQLAlchemyError) -> ServiceFault:
    """Return the fault of a database that could not be opened or read.

    libpq has no error code for a failed connection, so the kinds differ in their text only. A text that
    is not known counts as temporary.
    """
    reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
    if url.get_backend_name() == "sqlite":
        return _sqlite_fault(url, reason)
    # psycopg repeats the address, which the message names itself.
    detail = reason.rpartition(" failed: ")[2].removeprefix("FATAL:").strip()
    if _UNKNOWN_HOST.search(reason):
        return ServiceFault(f'the host "{url.host}" is unknown; correct the host in database.url', False)
    if _NO_DATABASE.search(reason):
        return ServiceFault(
            f"PostgreSQL at {_place(url)} answers, but {detail}; create the database, or correct its "
            "name in database.url",
            False,
        )
    if _WRONG_LOGIN.search(reason):
        return ServiceFault(
            f'PostgreSQL at {_place(url)} refuses the user "{url.username}": {detail}; correct the user '
            "or the password in database.url",
            False,
        )
    return ServiceFault(
        f"PostgreSQL at {_place(url)} does not answer: {detail}; start it, or correct the host and port "
        "in database.url",
        True,
    )


def _sqlite_fault(url: URL, reason: str) -> ServiceFault:
    return ServiceFault(
        f"the file {url.database} cannot be used: {reason}; correct database.url, or the owner and mode "
        "of the file and its folder",
        reason == _LOCKED,
    )


def _place(url: URL) -> str:
    host = url.host or url.query.get("host") or "localhost"
    return f"{host}:{url.port or _DEFAULT_PORT}"
