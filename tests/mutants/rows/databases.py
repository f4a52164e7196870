"""Mutants: databases. Tests of PostgreSQL alone have a row only if they start their own."""

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
        "foundation/limits/redis_faults.py::find_fault",
        "_require_writes(client, key)",
        "pass",
        "rest/test_limits.py::TestRedis::test_when_it_refuses_writes_its_reason_is_named",
    ),
    core(
        "databases-replica-current",
        "A standby answers only if it has the changes before the read.",
        "foundation/database/replica.py::_read_state",
        "if has_all:",
        "if True:",
        f"{_TESTS}/test_replica.py::test_the_primary_answers_while_the_standby_lacks_a_change",
    ),
    core(
        "databases-replica-follows",
        "A standby that no longer follows the primary answers nothing.",
        "foundation/database/replica.py::_read_state",
        "if not is_streaming:",
        "if False:",
        f"{_TESTS}/test_replica.py::test_a_standby_that_no_longer_follows_is_not_used",
    ),
    core(
        "databases-replica-cluster",
        "A standby of another database answers nothing.",
        "foundation/database/postgresql.py::StandbyConnector._require_role",
        "if cluster is not None and row != (cluster,):",
        "if False:",
        f"{_TESTS}/test_replica.py::test_a_server_that_is_no_standby_of_the_database_is_not_used",
    ),
    core(
        "databases-lock-waits",
        "A migration that waits for a lock lets the writes behind it pass.",
        "foundation/database/upgrade.py::_limit_lock_waits",
        "if not driver.autocommit:",
        "if False:",
        f"{_TESTS}/test_online_upgrade.py::test_a_long_transaction_delays_an_upgrade_and_no_write",
    ),
)
