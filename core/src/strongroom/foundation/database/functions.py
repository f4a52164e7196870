"""SQL functions whose names differ between databases."""

from typing import Any

from sqlalchemy import BigInteger, ColumnElement
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import GenericFunction


class greatest(GenericFunction[int]):  # noqa: N801  # named as the SQL function
    """The greater of two integers that are not NULL: ``GREATEST()``, and ``max()`` on SQLite."""

    type = BigInteger()
    inherit_cache = True

    def __init__(self, first: ColumnElement[Any], second: ColumnElement[Any]) -> None:
        super().__init__(first, second)


@compiles(greatest, "sqlite")
def _max(element: greatest, compiler: SQLCompiler, **options: Any) -> str:
    return f"max{compiler.process(element.clause_expr, **options)}"
