"""The pages of a tenant: its members, rules and connections."""

from typing import Final

from flask import Blueprint

from strongroom_console.tenant.activity import activity
from strongroom_console.tenant.groups import groups
from strongroom_console.tenant.invitations import invitations
from strongroom_console.tenant.member_bulk import member_bulk
from strongroom_console.tenant.member_changes import member_changes
from strongroom_console.tenant.members import members
from strongroom_console.tenant.retention import retention
from strongroom_console.tenant.service_accounts import service_accounts
from strongroom_console.tenant.service_keys import service_keys
from strongroom_console.tenant.settings import settings
from strongroom_console.tenant.share_policy import share_policy
from strongroom_console.tenant.usage import usage
from strongroom_console.tenant.webhook import webhook
from strongroom_console.tenant.webhook_deliveries import webhook_deliveries
from strongroom_console.tenant.webhooks import webhooks

AREAS: Final[tuple[Blueprint, ...]] = (
    members,
    member_bulk,
    member_changes,
    groups,
    invitations,
    usage,
    settings,
    retention,
    share_policy,
    service_accounts,
    service_keys,
    webhooks,
    webhook,
    webhook_deliveries,
    activity,
)
