"""Several hosts of PostgreSQL before the database, which SQLAlchemy knows as parameters only."""

import pytest
from sqlalchemy import create_engine

from strongroom.foundation.config.database_urls import with_host_parameters

SCHEME = "postgresql+psycopg://"


@pytest.mark.parametrize(
    ("written", "host", "port"),
    [
        ("u:p%40@db1:5433,db2/site?sslmode=require", "db1,db2", "5433,5432"),
        ("u:p%40@[::1]:5433,[2001:db8::1]/site", "::1,2001:db8::1", "5433,5432"),
        ("u:p%40@/site?host=db1:5433&host=db2:5432", "db1,db2", "5433,5432"),
        ("u:p%40@/site?host=db1,db2&port=5433,5432", "db1,db2", "5433,5432"),
    ],
)
def test_both_notations_of_several_hosts_lead_to_the_same_connection(
    written: str, host: str, port: str
) -> None:
    engine = create_engine(with_host_parameters(f"{SCHEME}{written}"))
    _, parameters = engine.dialect.create_connect_args(engine.url)
    expected = {"host": host, "port": port, "dbname": "site", "user": "u", "password": "p@"}
    assert expected.items() <= parameters.items()
    assert ("sslmode" in parameters) == ("sslmode" in written)


@pytest.mark.parametrize(
    "url", [f"{SCHEME}u:p,q@db/site", f"{SCHEME}u@[::1]:5433/site", "sqlite:////srv/a,b/file"]
)
def test_a_url_with_one_host_or_none_stays_as_it_is(url: str) -> None:
    assert with_host_parameters(url) == url


@pytest.mark.parametrize("hosts", ["db1:1x,db2", "db1:99999,db2", "[::1,db2", "db1:1:2,db2"])
def test_an_invalid_host_or_port_is_refused(hosts: str) -> None:
    with pytest.raises(ValueError, match="invalid host or port"):
        with_host_parameters(f"{SCHEME}u@{hosts}/site")
