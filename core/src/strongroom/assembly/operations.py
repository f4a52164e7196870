"""All tables of operations, in the order of the access reference."""

from types import ModuleType
from typing import Final

from strongroom.activity.audit import operations as audit
from strongroom.content.nodes import operations as files
from strongroom.content.scanning import operations as scanning
from strongroom.content.tenants import operations as tenants
from strongroom.extensions.business_files import operations as business_files
from strongroom.identity import operations as identity

TABLES: Final[tuple[ModuleType, ...]] = (files, business_files, tenants, scanning, identity, audit)
