"""The table of operations on the audit log."""

from typing import Final

from strongroom.foundation.operations import OperationRule
from strongroom.plugin_api.authentication import Scope

LIST_EVENTS: Final = OperationRule("list audit events", Scope.AUDIT_READ)
