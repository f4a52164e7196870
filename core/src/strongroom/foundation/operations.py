"""Tables of operations: what each operation requires of its caller.

A table is a module with one constant per operation. Each wing has the tables of its own operations. A
route names its row, a call by a plugin uses the same row, and services check what the row states.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType

from strongroom.plugin_api.authentication import Scope, Sensitive


@dataclass(frozen=True, slots=True)
class OperationRule:
    """A row of a table: what an operation requires of its caller.

    Args:
        name: the operation, as a phrase that begins with a verb.
        scope: the scope that an access key needs; ``None``: access keys are refused.
        sensitive: the effect for which users with a second factor must have proven it lately.
    """

    name: str
    scope: Scope | None = None
    sensitive: Sensitive | None = None


def collect_rows(tables: Iterable[ModuleType]) -> list[OperationRule]:
    """Return the rows of tables, in their order."""
    values = (value for table in tables for value in vars(table).values())
    return [value for value in values if isinstance(value, OperationRule)]
