"""The table of login codes."""

from typing import Final

from sqlalchemy import BigInteger, Column, Index, MetaData, String, Table, Text

metadata: Final = MetaData()

codes: Final = Table(
    "login_pages_codes",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("code_challenge", String(43), nullable=False),
    Column("sealed_tokens", Text, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("user_id", String(36)),
    Index("login_pages_codes_expiry", "expires_at"),
    Index("login_pages_codes_user", "user_id"),
)
"""``user_id`` is NULL in rows of version 0001, which end within a minute."""
