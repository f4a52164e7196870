"""The table of operations on users, their credentials, second factors and access keys.

Operations that have neither a scope nor a step-up are not in it.
"""

from typing import Final

from strongroom.foundation.operations import OperationRule
from strongroom.plugin_api.authentication import Scope, Sensitive

LIST_USERS: Final = OperationRule("list users", Scope.USERS_READ)
GET_USER: Final = OperationRule("get a user", Scope.USERS_READ)
REGISTER: Final = OperationRule("register, or create a user", Scope.USERS_WRITE)
CREATE_USER: Final = OperationRule(
    "create a user as an administrator", Scope.USERS_WRITE, Sensitive.ACCOUNTS
)
CHANGE_USER: Final = OperationRule("change a user", Scope.USERS_WRITE)
CHANGE_ACCOUNT: Final = OperationRule(
    "change the type, status or external id of a user", Scope.USERS_WRITE, Sensitive.ACCOUNTS
)
DELETE_USER: Final = OperationRule("delete a user", Scope.USERS_WRITE, Sensitive.ACCOUNTS)
SCHEDULE_DELETION: Final = OperationRule("schedule the own deletion", None, Sensitive.ACCOUNTS)
EXPORT_OWN_DATA: Final = OperationRule("export the own data", None, Sensitive.ACCOUNTS)
SUSPEND_USER: Final = OperationRule("suspend or reinstate a user", Scope.USERS_WRITE, Sensitive.ACCOUNTS)
IMPORT_USERS: Final = OperationRule("import users", Scope.USERS_WRITE, Sensitive.ACCOUNTS)
CANCEL_IMPORT: Final = OperationRule("cancel an import of users", Scope.USERS_WRITE)
EXPORT_USERS: Final = OperationRule("export users", Scope.USERS_READ, Sensitive.ACCOUNTS)
READ_IMPORTS: Final = OperationRule("read imports of users", Scope.USERS_READ)
IMPERSONATE: Final = OperationRule("impersonate a user", Scope.USERS_IMPERSONATE, Sensitive.ACCOUNTS)
CHANGE_SERVER_ACCOUNTS: Final = OperationRule(
    "create or delete a service account of the server", None, Sensitive.ACCOUNTS
)
SET_CONTACTS: Final = OperationRule(
    "set or remove the contacts of another user", Scope.USERS_WRITE, Sensitive.CREDENTIALS
)
GIVE_PASSWORD: Final = OperationRule(
    "give a temporary password", Scope.USERS_WRITE, Sensitive.CREDENTIALS
)
CREATE_LINK: Final = OperationRule(
    "create a link that sets a password", Scope.USERS_WRITE, Sensitive.CREDENTIALS
)
GET_METADATA: Final = OperationRule("get the metadata of a user", Scope.USERS_READ)
CHANGE_METADATA: Final = OperationRule("change the metadata of a user", Scope.USERS_WRITE)
CHANGE_SERVER_METADATA: Final = OperationRule(
    "change the server metadata of a user", Scope.USERS_WRITE, Sensitive.ACCOUNTS
)

BIND: Final = OperationRule("bind a contact", None, Sensitive.CREDENTIALS)
UNBIND: Final = OperationRule("unbind a contact", None, Sensitive.CREDENTIALS)
SET_USERNAME: Final = OperationRule("set the username", None, Sensitive.CREDENTIALS)
CHANGE_PASSWORD: Final = OperationRule("change the password", None, Sensitive.CREDENTIALS)

CHANGE_FACTORS: Final = OperationRule("add, rename or remove a second factor", None, Sensitive.FACTORS)
CREATE_RECOVERY_CODES: Final = OperationRule("create recovery codes", None, Sensitive.FACTORS)

CREATE_KEY: Final = OperationRule("create or rotate an access key", None, Sensitive.KEYS)
