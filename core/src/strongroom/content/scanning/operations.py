"""The table of operations on files in quarantine, which are for administrators of the server."""

from typing import Final

from strongroom.foundation.operations import OperationRule
from strongroom.plugin_api.authentication import Sensitive

LIST_QUARANTINE: Final = OperationRule("list the quarantine")
RELEASE: Final = OperationRule("release from quarantine", None, Sensitive.FILES)
DELETE: Final = OperationRule("delete from quarantine", None, Sensitive.FILES)
