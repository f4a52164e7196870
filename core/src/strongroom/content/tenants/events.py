"""Fields and data that the events of tenants and of their members share."""

from typing import Final

from strongroom.activity.events.declarations import actor_data, details, text
from strongroom.web.core_events import Data, Record

GROUP: Final = text("groupId", "The group")
ROLE: Final = text("role", "`admin`, `member` or `records`")


def member_data(record: Record) -> Data:
    """Return the data of an event about a member of the target."""
    ids = {"tenantId": record.target_id, "userId": record.details["user"]}
    return {**ids, **details(record, "role"), **actor_data(record)}
