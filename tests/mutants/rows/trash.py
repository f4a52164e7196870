"""Mutants: trash."""

from typing import Final

from tests.mutants.modules import core

ROWS: Final = (
    core(
        "trash-by-id",
        "A node in the trash cannot be reached by its id.",
        "content/nodes/effective_permission.py::_is_node",
        "return is_node & nodes.c.trash_id.is_(None)",
        "return is_node",
        "rest/test_trash.py::TestDeletion::test_the_subtree_is_in_no_list_and_cannot_be_reached",
    ),
    core(
        "trash-of-others",
        "Members see only what they deleted themselves.",
        "extensions/trash/access.py::TrashAccess.find",
        "if trashed is None or user_id not in (None, trashed.entry.trashed_by):",
        "if trashed is None:",
        "rest/test_trash.py::TestList::test_others_see_nothing_of_an_entry",
    ),
    core(
        "trash-grants",
        "Grants in the trash put no node at the top level.",
        "content/nodes/tree.py::Tree.detach",
        "self._visibility.hide(connection, node.id)",
        "",
        "rest/test_trash.py::TestDeletion::test_the_subtree_is_in_no_list_and_cannot_be_reached",
        "unit/content/files/test_tree_machine.py::test_tree_and_grants_match_the_model",
    ),
    core(
        "trash-proof",
        "Removing a file permanently needs a fresh proof.",
        "content/files/views.py::delete_file",
        "if permanently: require_fresh_proof()",
        "",
        "rest/test_trash.py::TestDeletion::test_permanently_removes_at_once_with_a_fresh_proof",
    ),
    core(
        "trash-elsewhere",
        "A restoration to another folder gives no permission that outlasts the caller's.",
        "extensions/trash/service.py::TrashService._folder",
        "if parent_id != former:",
        "if False:",
        "rest/test_trash.py::TestRestoration::test_it_needs_the_permission_to_write_to_the_folder",
    ),
    core(
        "versions-scan",
        "Content that may not be read is not restored from a version.",
        "extensions/versions/service.py::VersionService.restore",
        "require_readable(version.scan) content",
        "content",
        "rest/test_versions.py::TestScanning::test_a_version_that_waits_for_its_scan_gets_its_state",
    ),
    core(
        "versions-shared",
        "A blob is released only with its last reference.",
        "content/storage/service.py",
        ".where(_OF_KEYS, is_unreferenced())",
        ".where(_OF_KEYS)",
        "rest/test_versions.py::TestRestoring::test_the_content_is_current_again",
    ),
    core(
        "removal-records",
        "Removing a file permanently is recorded in the audit log.",
        "content/nodes/removals.py::RemovalRecords.record",
        "for node in removed])",
        "for node in []])",
        "rest/test_removal_records.py::test_it_leaves_a_file_event_and_an_audit_record",
    ),
    core(
        "removal-records-versions",
        "Removing a version is recorded in the audit log.",
        "content/nodes/removals.py::RemovalRecords.record_version",
        "self._audit.record(connection, self._record(action, caller, node, details))",
        "",
        "rest/test_removal_records.py::test_it_leaves_a_file_event_and_an_audit_record",
    ),
)
