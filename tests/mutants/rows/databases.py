"""Mutants: databases. Those of PostgreSQL alone have no row, because mutants run on SQLite."""

from typing import Final

from tests.mutants.modules import core

_TESTS = "unit/foundation/database"

ROWS: Final = (
    core(
        "databases-built-once",
        "Threads that build SQL at once share one object.",
        "foundation/cache.py::BuiltOnce.__call__",
        "with _BUILDING:",
        "if True:",
        f"{_TESTS}/test_first_use.py::test_threads_at_once_share_the_folders_around_a_node",
    ),
    core(
        "databases-redis-writes",
        "The probe of Redis finds that it refuses writes.",
        "foundation/limits/backends.py::storage_fault",
        "require_writes(storage.get_connection())",
        "pass",
        "rest/test_limits.py::TestRedis::test_when_it_refuses_writes_its_reason_is_named",
    ),
)
