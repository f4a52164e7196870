"""The table of operations on directories, and of what directories do."""

from typing import Final

from strongroom.foundation.operations import OperationRule
from strongroom.plugin_api.authentication import Scope, Sensitive

LIST_DIRECTORIES: Final = OperationRule("list directories")
REGISTER_DIRECTORY: Final = OperationRule(
    "register, change or remove a directory", None, Sensitive.TENANTS
)
READ_PROVISIONED: Final = OperationRule("read users and groups as a directory", Scope.USERS_READ)
PROVISION: Final = OperationRule("provision users and groups as a directory", Scope.USERS_WRITE)
