"""The table of operations on business files, which are not nodes of a tenant."""

from typing import Final

from strongroom.foundation.operations import OperationRule
from strongroom.plugin_api.authentication import Scope

UPLOAD: Final = OperationRule("upload a business file", Scope.FILES_WRITE)
DOWNLOAD: Final = OperationRule("download a business file", Scope.FILES_READ)
DELETE: Final = OperationRule("delete a business file", Scope.FILES_SHARE)
