"""What is wrong with the URL of a database is distinguished from a database that is unavailable."""

import pytest
from sqlalchemy import make_url
from sqlalchemy.exc import OperationalError

from strongroom.cli.database_faults import find_database_fault

SERVER = 'connection failed: connection to server at "db", port 5432 failed: FATAL:  '


@pytest.mark.parametrize(
    ("reason", "message", "is_temporary"),
    [
        (
            f'{SERVER}password authentication failed for user "x"',
            (
                'PostgreSQL at db:5432 refuses the user "x": password authentication failed for user "x"'
                "; correct the user or the password in database.url"
            ),
            False,
        ),
        (
            f'{SERVER}database "y" does not exist',
            (
                'PostgreSQL at db:5432 answers, but database "y" does not exist; create the database, '
                "or correct its name in database.url"
            ),
            False,
        ),
        (
            "failed to resolve host 'db': [Errno -2] Name or service not known",
            'the host "db" is unknown; correct the host in database.url',
            False,
        ),
        (
            f"{SERVER}the database system is starting up",
            (
                "PostgreSQL at db:5432 does not answer: the database system is starting up; start it, "
                "or correct the host and port in database.url"
            ),
            True,
        ),
        (
            'connection is bad: invalid sslmode value: "requir"',
            'a parameter is wrong: invalid sslmode value: "requir"; correct it in database.url',
            False,
        ),
        (
            'invalid connection option "sslmod"',
            'a parameter is wrong: invalid connection option "sslmod"; correct it in database.url',
            False,
        ),
        (
            f"{SERVER}unsupported startup parameter: options",
            (
                "the pooler at db:5432 refuses the parameter options of the URL; remove it from "
                "database.url"
            ),
            False,
        ),
    ],
)
def test_what_is_wrong_with_a_database_is_told_from_one_that_is_away(
    reason: str, message: str, *, is_temporary: bool
) -> None:
    url = make_url("postgresql+psycopg://x:hush@db/y")
    fault = find_database_fault(url, OperationalError("", None, Exception(reason)))
    assert (fault.message, fault.is_temporary) == (message, is_temporary)


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ("host=a:1&host=b:2", "a:1 and b:2"),
        ("host=a,b&port=1,2", "a:1 and b:2"),
        ("host=a&host=b", "a:5432 and b:5432"),
    ],
)
def test_several_hosts_are_named_with_their_ports(query: str, places: str) -> None:
    url = make_url(f"postgresql+psycopg://x:hush@/y?{query}")
    fault = find_database_fault(
        url, OperationalError("", None, Exception("server closed the connection"))
    )
    assert fault.message.startswith(f"PostgreSQL at {places} does not answer: ")
