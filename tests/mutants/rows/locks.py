"""Mutants: locks of files and folders."""

from typing import Final

from tests.mutants.modules import core

_MATRIX: Final = "rest/test_locks.py::test_a_lock_forbids_changes_by_others_on_each_route"

ROWS: Final = (
    core(
        "locks-user",
        "A lock gives no right to another user who presents it.",
        "content/nodes/locks.py::NodeLocks._require_one",
        "lock.id in presented and lock.user_id == caller.user_id",
        "lock.id in presented",
        _MATRIX,
    ),
    core(
        "locks-presented",
        "The holder passes with the lock only.",
        "content/nodes/locks.py::NodeLocks._require_one",
        "lock.id in presented and lock.user_id == caller.user_id",
        "lock.user_id == caller.user_id",
        "rest/test_locks.py::test_the_holder_passes_with_the_lock_only",
    ),
    core(
        "locks-deep",
        "A deep lock covers everything in its folder, and another one does not.",
        "content/nodes/locks.py::_covering",
        "is_covering = (path.c.height == 0) | node_locks.c.is_deep",
        "is_covering = path.c.height == 0",
        _MATRIX,
    ),
    core(
        "locks-below",
        "A folder with something locked in it does not move.",
        "content/nodes/locks.py::NodeLocks.require",
        "if whole is not None:",
        "if False:",
        _MATRIX,
    ),
    core(
        "locks-release",
        "A lock of another user is released by users who manage the node only.",
        "extensions/locks/service.py::LockService._require_manageable",
        "if access.node is None or not access.may(operations.BREAK_LOCK):",
        "if access.node is None:",
        "rest/test_locks.py::test_others_release_a_lock_only_if_they_manage_the_node",
    ),
)
