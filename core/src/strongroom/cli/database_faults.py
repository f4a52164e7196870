"""Why a database cannot be used: the host, the password or the name is wrong, or it is down now."""

import re
from typing import Final

from sqlalchemy import URL
from sqlalchemy.exc import SQLAlchemyError

from strongroom.cli.service_faults import ServiceFault
from strongroom.foundation.database import failures

_UNKNOWN_HOST: Final = re.compile(
    r"failed to resolve host '([^']*)'|could not translate host name \"([^\"]*)\""
)
_WRONG_LOGIN: Final = re.compile(
    r"authentication failed|no password supplied|role .* does not exist|pg_hba"
)
_NO_DATABASE: Final = re.compile(r'database "[^"]*" does not exist')
_WRONG_PARAMETER: Final = re.compile(
    r"(?:invalid \S+ value:|invalid connection option|bad value for|invalid value for parameter|"
    r"unrecognized configuration parameter|weak sslmode|root certificate file) .*|"
    r"server does not support SSL.*|\S+ requires a value"
)
_POOLER_REFUSES: Final = re.compile(r"unsupported startup parameter(?: in options)?: (\S+)")
_LOCKED: Final = "database is locked"
_HAS_PORT: Final = re.compile(r":\d+$")
_DEFAULT_PORT: Final = 5432


def find_replica_fault(url: URL, error: SQLAlchemyError) -> ServiceFault:
    """Return the fault of a replica that could not be read; a server starts without it."""
    fault = find_database_fault(url, error)
    message = fault.message.replace("database.url", "database.replica_url")
    return ServiceFault(message, fault.is_temporary)


def find_database_fault(url: URL, error: SQLAlchemyError) -> ServiceFault:
    """Return the fault of a database that could not be opened or read.

    libpq has no error code for a failed connection, so the kinds differ in their text only. A text that
    is not known counts as temporary.
    """
    reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
    if url.get_backend_name() == "sqlite":
        return _sqlite_fault(url, reason)
    # psycopg repeats the address, which the message names itself.
    detail = reason.rpartition(" failed: ")[2].removeprefix("FATAL:").strip()
    if failures.is_read_only(error):
        return ServiceFault(
            f"PostgreSQL at {_place(url)} is in recovery: it is a standby, which refuses writes; name "
            "the primary in database.url, or all hosts, as ?host=HOST:PORT&host=HOST:PORT",
            True,
        )
    if wrong := _wrong_url(url, reason, detail):
        return ServiceFault(wrong, False)
    return ServiceFault(
        f"PostgreSQL at {_place(url)} does not answer: {detail}; start it, or correct the host and port "
        "in database.url",
        True,
    )


def _wrong_url(url: URL, reason: str, detail: str) -> str | None:
    """Return what is wrong in the URL, or ``None`` if it may be right."""
    message = None
    if wrong := _WRONG_PARAMETER.search(reason):
        message = f"a parameter is wrong: {wrong[0]}; correct it in database.url"
    elif refused := _POOLER_REFUSES.search(reason):
        message = (
            f"the pooler at {_place(url)} refuses the parameter {refused[1].rstrip(',')} of the URL; "
            "remove it from database.url"
        )
    elif unknown := _UNKNOWN_HOST.search(reason):
        host = unknown[1] or unknown[2]
        message = f'the host "{host}" is unknown; correct the host in database.url'
    elif _NO_DATABASE.search(reason):
        message = (
            f"PostgreSQL at {_place(url)} answers, but {detail}; create the database, or correct its "
            "name in database.url"
        )
    elif _WRONG_LOGIN.search(reason):
        message = (
            f'PostgreSQL at {_place(url)} refuses the user "{url.username}": {detail}; correct the user '
            "or the password in database.url"
        )
    return message


def _sqlite_fault(url: URL, reason: str) -> ServiceFault:
    return ServiceFault(
        f"the file {url.database} cannot be used: {reason}; correct database.url, or the owner and mode "
        "of the file and its folder",
        reason == _LOCKED,
    )


def _place(url: URL) -> str:
    """Return the hosts with their ports."""
    named = url.query.get("host") or url.host or "localhost"
    items = [named] if isinstance(named, str) else named
    ports = str(url.port or url.query.get("port") or _DEFAULT_PORT).split(",")
    hosts = [host for item in items for host in item.split(",")]
    # A single port is the one of all hosts.
    ports = ports if len(ports) == len(hosts) else ports[:1] * len(hosts)
    places = zip(hosts, ports, strict=True)
    return " and ".join(host if _HAS_PORT.search(host) else f"{host}:{port}" for host, port in places)
