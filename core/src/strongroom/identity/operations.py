"""The table of operations on users, their credentials, second factors and access keys.

Operations that have neither a scope nor a step-up are not in it.
"""

from typing import Final

from strongroom.foundation.operations import OperationRule
from strongroom.plugin_api.authentication import Scope, Sensitive

LIST_USERS: Final = OperationRule("list users", Scope.USERS_READ)
GET_USER: Final = OperationRule("get a user", Scope.USERS_READ)
DELETE_USER: Final = OperationRule("delete a user", None, Sensitive.ACCOUNTS)
SUSPEND_USER: Final = OperationRule("suspend or reinstate a user", None, Sensitive.ACCOUNTS)

BIND: Final = OperationRule("bind a contact", None, Sensitive.CREDENTIALS)
UNBIND: Final = OperationRule("unbind a contact", None, Sensitive.CREDENTIALS)
SET_USERNAME: Final = OperationRule("set the username", None, Sensitive.CREDENTIALS)
CHANGE_PASSWORD: Final = OperationRule("change the password", None, Sensitive.CREDENTIALS)

CHANGE_FACTORS: Final = OperationRule("add, rename or remove a second factor", None, Sensitive.FACTORS)
CREATE_RECOVERY_CODES: Final = OperationRule("create recovery codes", None, Sensitive.FACTORS)

CREATE_KEY: Final = OperationRule("create or rotate an access key", None, Sensitive.KEYS)
