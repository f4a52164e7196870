"""Tables of tenants and of their members."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    String,
    Table,
    UniqueConstraint,
)

from strongroom.foundation.assurance import Demand, make_demand
from strongroom.foundation.database.metadata import Id, Name, SortKeyText, Timestamp, metadata
from strongroom.foundation.database.named_rows import NamedRowMapper
from strongroom.foundation.database.rows import RowMapper
from strongroom.plugin_api.login import Credential


class Role(StrEnum):
    """Role of a member in a tenant."""

    ADMIN = "admin"
    MEMBER = "member"
    RECORDS = "records"
    """A member who also places and releases holds on files, without seeing more of them."""

    @property
    def is_privileged(self) -> bool:
        """Whether giving this role needs a recent proof of the second factor."""
        return self is not Role.MEMBER


@dataclass(frozen=True, slots=True)
class Tenant:
    """A row of :data:`tenants`. Sizes are in bytes; ``deleted_at`` is ``None`` unless it is deleted."""

    id: str
    name: str
    quota_bytes: int | None
    used_bytes: int
    reserved_bytes: int
    created_at: int
    updated_at: int
    revision: int
    deleted_at: int | None = None
    required_acr: str | None = None
    max_proof_age: int | None = None
    sort_key: str = ""

    @property
    def demand(self) -> Demand | None:
        """What the tenant demands of the logins of its members."""
        return make_demand(self.required_acr, self.max_proof_age)


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage and quota of a tenant, in bytes; without a quota, ``quota_bytes`` is ``None``.

    ``used_bytes`` includes ``trash_bytes`` and ``version_bytes``; ``held_bytes`` are under a
    hold, and part of the others.
    """

    used_bytes: int
    trash_bytes: int
    version_bytes: int
    held_bytes: int
    reserved_bytes: int
    quota_bytes: int | None

    @property
    def live_bytes(self) -> int:
        """Size of the current contents of files that are not in the trash."""
        return self.used_bytes - self.trash_bytes - self.version_bytes

    @property
    def free_bytes(self) -> int | None:
        """Size of the files that can be added; ``None`` is unlimited."""
        if self.quota_bytes is None:
            return None
        # The quota may be lower than the usage.
        return max(0, self.quota_bytes - self.used_bytes - self.reserved_bytes)


@dataclass(frozen=True, slots=True)
class Member:
    """A row of :data:`tenant_members`."""

    user_id: str
    role: str
    created_at: int


@dataclass(frozen=True, slots=True)
class Group:
    """A row of :data:`groups`."""

    id: str
    tenant_id: str
    name: str
    created_at: int
    updated_at: int
    revision: int
    sort_key: str = ""


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A row of :data:`group_members`."""

    group_id: str
    user_id: str
    tenant_id: str
    added_by: str | None
    created_at: int


@dataclass(frozen=True, slots=True)
class Invitation:
    """A row of :data:`invitations`. ``kind`` and ``recipient`` identify a credential."""

    id: str
    tenant_id: str
    kind: str
    recipient: str
    role: str
    secret_hash: str
    invited_by: str
    created_at: int
    expires_at: int
    written: str | None = None

    @property
    def contact(self) -> Credential:
        """The invited contact."""
        return Credential(self.kind, self.recipient, self.written)


tenants: Final = Table(
    "tenants",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Name, nullable=False),
    Column("quota_bytes", BigInteger),
    Column("used_bytes", BigInteger, nullable=False),
    Column("reserved_bytes", BigInteger, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    Column("revision", Timestamp, nullable=False),
    Column("deleted_at", Timestamp),
    Column("required_acr", String(64)),
    Column("max_proof_age", Integer),
    Column("sort_key", SortKeyText, nullable=False, server_default=""),
    Index(None, "sort_key", "id", "deleted_at"),
    Index(None, "deleted_at"),
)
"""A tenant without ``quota_bytes`` has the configured default. ``reserved_bytes`` is the announced size
of open uploads: it counts against the quota, but is not in use yet. ``required_acr`` and
``max_proof_age``, in seconds, are what the tenant demands of logins."""

TENANT: Final = NamedRowMapper(Tenant, tenants)

tenant_members: Final = Table(
    "tenant_members",
    metadata,
    Column("tenant_id", Id, ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("role", String(16), nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Index(None, "user_id"),
)

groups: Final = Table(
    "groups",
    metadata,
    Column("id", Id, primary_key=True),
    Column("tenant_id", Id, ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    Column("name", Name, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    Column("revision", Timestamp, nullable=False),
    Column("sort_key", SortKeyText, nullable=False, server_default=""),
    UniqueConstraint("tenant_id", "name"),
    Index(None, "tenant_id", "sort_key", "id"),
)
"""Groups of a tenant's members. Groups do not contain groups."""

GROUP: Final = NamedRowMapper(Group, groups)

group_members: Final = Table(
    "group_members",
    metadata,
    Column("group_id", Id, ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", Id, primary_key=True),
    Column("tenant_id", Id, nullable=False),
    Column("added_by", Id),
    Column("created_at", Timestamp, nullable=False),
    ForeignKeyConstraint(
        ["tenant_id", "user_id"],
        ["tenant_members.tenant_id", "tenant_members.user_id"],
        ondelete="CASCADE",
    ),
    # Finds the groups of a user, and the rows to delete with a membership of the tenant.
    Index(None, "user_id", "tenant_id", "group_id"),
)
"""Only members of a tenant are in its groups: leaving the tenant deletes these rows in one statement."""

GROUP_MEMBER: Final = RowMapper(GroupMember, group_members)

invitations: Final = Table(
    "invitations",
    metadata,
    Column("id", Id, primary_key=True),
    Column("tenant_id", Id, ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("recipient", Name, nullable=False),
    Column("role", String(16), nullable=False),
    Column("secret_hash", String(64), nullable=False, unique=True),
    Column("invited_by", Id, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Column("written", Name),
    UniqueConstraint("tenant_id", "kind", "recipient"),
    Index(None, "kind", "recipient"),
    Index(None, "expires_at"),
)
"""Open invitations: accepting or declining one deletes its row, so that it works once."""

INVITATION: Final = RowMapper(Invitation, invitations)

invitation_groups: Final = Table(
    "invitation_groups",
    metadata,
    Column("invitation_id", Id, ForeignKey("invitations.id", ondelete="CASCADE"), primary_key=True),
    Column("group_id", Id, ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True),
    Index(None, "group_id"),
)
"""Groups that the invited user joins. Deleting a group removes it from open invitations."""
