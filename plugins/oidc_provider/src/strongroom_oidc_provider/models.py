"""The tables of clients, codes and consents."""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import JSON, BigInteger, Boolean, Column, Index, Integer, MetaData, String, Table

metadata: Final = MetaData()

clients: Final = Table(
    "oidc_provider_clients",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("name", String(255), nullable=False),
    Column("is_public", Boolean, nullable=False),
    Column("is_trusted", Boolean, nullable=False),
    Column("redirect_uris", JSON, nullable=False),
    Column("scopes", JSON, nullable=False),
    Column("resources", JSON, nullable=False),
    # Hashes of the live secrets, the newest first, each with its end or null.
    Column("secrets", JSON, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("oidc_provider_clients_created", "created_at", "id"),
)


@dataclass(frozen=True, slots=True)
class Client:
    """An application that logs its users in here, or uses the REST API on their behalf.

    Args:
        is_public: whether it cannot keep a secret, such as an app.
        is_trusted: whether its users are not asked for their consent.
        scopes: the scopes that it may request.
        resources: the URIs of the services, other than this server, that it may request tokens for.
    """

    id: str
    name: str
    is_public: bool
    is_trusted: bool
    redirect_uris: tuple[str, ...]
    scopes: tuple[str, ...]
    resources: tuple[str, ...]
    revision: int
    created_at: int
    updated_at: int

    @classmethod
    def from_row(cls, row: Any) -> "Client":
        """Return the client of a row."""
        values: dict[str, Any] = {name: getattr(row, name) for name in cls.__slots__}
        lists = {name: tuple(values[name]) for name in ("redirect_uris", "scopes", "resources")}
        return cls(**{**values, **lists})
