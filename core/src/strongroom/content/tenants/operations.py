"""The table of operations on tenants, their members, groups, invitations and service accounts."""

from typing import Final

from strongroom.foundation.operations import OperationRule
from strongroom.plugin_api.authentication import Scope, Sensitive

CREATE: Final = OperationRule("create a tenant", Scope.TENANTS_WRITE)
LIST: Final = OperationRule("list tenants", Scope.TENANTS_READ)
GET: Final = OperationRule("get a tenant", Scope.TENANTS_READ)
GET_USAGE: Final = OperationRule("get the usage of a tenant", Scope.TENANTS_READ)
CHANGE: Final = OperationRule("change a tenant", None, Sensitive.TENANTS)
DELETE: Final = OperationRule("delete a tenant", None, Sensitive.TENANTS)
TRANSFER: Final = OperationRule("transfer a tenant", None, Sensitive.TENANTS)

LIST_MEMBERS: Final = OperationRule("list members", Scope.TENANTS_READ)
SET_ROLE: Final = OperationRule("add a member or set a role", Scope.TENANTS_WRITE, Sensitive.TENANTS)
REMOVE_MEMBER: Final = OperationRule("remove a member", Scope.TENANTS_WRITE, Sensitive.TENANTS)

LIST_GROUPS: Final = OperationRule("list groups and their members", Scope.TENANTS_READ)
CHANGE_GROUP: Final = OperationRule("create, rename or delete a group", Scope.TENANTS_WRITE)
CHANGE_GROUP_MEMBERS: Final = OperationRule("add or remove members of a group", Scope.TENANTS_WRITE)

LIST_INVITATIONS: Final = OperationRule("list invitations")
INVITE: Final = OperationRule("invite a member")
INVITE_PRIVILEGED: Final = OperationRule(
    "invite an administrator or a keeper of records", None, Sensitive.TENANTS
)
REVOKE_INVITATION: Final = OperationRule("revoke an invitation")
ANSWER_INVITATION: Final = OperationRule("accept or decline an invitation")

LIST_SERVICE_ACCOUNTS: Final = OperationRule("list service accounts and their keys")
CREATE_SERVICE_ACCOUNT: Final = OperationRule("create a service account", None, Sensitive.TENANTS)
DELETE_SERVICE_ACCOUNT: Final = OperationRule("delete a service account", None, Sensitive.TENANTS)
CREATE_SERVICE_KEY: Final = OperationRule(
    "create or rotate a key of a service account", None, Sensitive.KEYS
)
REVOKE_SERVICE_KEY: Final = OperationRule("revoke a key of a service account")
