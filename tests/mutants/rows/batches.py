"""Mutants: batches."""

from typing import Final

from tests.mutants.modules import core

ROWS: Final = (
    core(
        "batches-savepoint",
        "An item that fails changes nothing.",
        "content/files/batches/service.py::BatchService._apply_alone",
        "with connection.begin_nested():",
        "if True:",
        "rest/test_files_batches.py::TestFailures"
        "::test_an_error_after_the_first_change_of_an_item_undoes_the_item",
    ),
    core(
        "batches-shared-reads",
        "An item that takes a permission away counts for the next items.",
        "content/files/batches/service.py::BatchService._apply",
        "run.reads.forget_folders()",
        "pass",
        "rest/test_files_batches.py::TestSharedReads::test_a_lost_permission_counts_for_the_next_item",
    ),
    core(
        "batches-scope",
        "An item needs the scope of its own request.",
        "content/files/batches/service.py::BatchService._apply",
        "run.caller.require_scope(rule)",
        "",
        "rest/test_files_batches.py::TestPermissions::test_a_key_needs_the_scope_of_each_item",
    ),
    core(
        "batches-member",
        "Users who are not members get no results.",
        "content/files/batches/service.py::BatchService._begin",
        ".find(connection, run.caller, run.tenant_id, None).require_member()",
        ".find(connection, run.caller, run.tenant_id, None)",
        "rest/test_files_batches.py::TestPermissions::test_a_stranger_is_refused_as_a_whole",
    ),
    core(
        "batches-atomic",
        "An item that fails undoes an atomic batch.",
        "content/files/batches/service.py::BatchService._apply_or_fail",
        'raise error.within(f"items.{number}") from error',
        "return BatchResult(item.node_id, error.status, error=error)",
        "rest/test_files_batches.py::TestFailures::test_it_undoes_an_atomic_batch",
    ),
    core(
        "batches-copies",
        "A batch copies a limited number of nodes.",
        "content/files/copying.py::CopyingService.copy_within",
        "budget.spend(len(originals))",
        "",
        "rest/test_files_batches.py::TestFailures"
        "::test_the_number_of_copied_nodes_is_that_of_all_copies",
    ),
    core(
        "batches-items",
        "A batch has a limited number of items.",
        "content/files/batches/schemas.py::FilesBatchSchema",
        "validate.Length(1, MAX_ITEMS)",
        "validate.Length(1)",
        "rest/test_files_batches.py::TestShape::test_at_most_a_thousand_items",
    ),
    core(
        "moves-below",
        "Top-level lists change with a moved folder.",
        "content/nodes/tree.py::Tree.move",
        "parent_id != node.parent_id and node.type == NodeType.FOLDER",
        "parent_id != node.parent_id and node.type == NodeType.FILE",
        "rest/test_files_batches.py::TestOrder::test_the_top_level_follows_a_moved_folder",
    ),
    core(
        "paths-backslash",
        "A path has no backslash.",
        "content/nodes/names.py::parse_path",
        'if "\\\\" in path:',
        "if False:",
        "rest/test_relative_paths.py::TestRefusals::test_invalid_paths",
    ),
    core(
        "paths-depth",
        "An upload creates a limited number of folders.",
        "content/nodes/names.py::parse_path",
        "or len(names) > MAX_PATH_NAMES",
        "",
        "rest/test_relative_paths.py::TestRefusals::test_invalid_paths",
    ),
    core(
        "paths-write",
        "Only folders that the caller may write to are used.",
        "content/nodes/file_writer.py::FileWriter._descend",
        "self.access.require_parent(connection, caller, target.tenant_id, folder.id)",
        "",
        "rest/test_relative_paths.py::TestRefusals::test_folders_of_others_need_write",
    ),
    core(
        "paths-hidden",
        "Paths do not reveal the names in a folder.",
        "content/nodes/file_writer.py::FileWriter._descend",
        "self.access.require_parent(connection, caller, target.tenant_id, target.parent_id) while",
        "while",
        "rest/test_relative_paths.py::TestRefusals::test_the_names_in_a_hidden_folder_are_not_revealed",
    ),
    core(
        "paths-drop",
        "A drop box does not reveal the names of files.",
        "content/nodes/file_writer.py::FileWriter._folder_named",
        "if target.on_conflict is not OnConflict.RENAME:",
        "if True:",
        "share_links/rest/test_drop_boxes.py::test_folders_are_created_and_no_name_is_revealed",
    ),
    core(
        "host-versions",
        "A number that no version has is not found.",
        "assembly/plugin_host/files/records.py::version_number",
        "if not 0 < number < _VERSIONS: raise NotFound",
        "",
        "rest/test_host_files.py::TestTrashAndVersions::test_versions_are_listed_read_and_restored",
    ),
    core(
        "host-sink",
        "A file that a plugin writes is committed after the end of the block.",
        "assembly/plugin_host/files/sinks.py::PipedContent.check",
        "self.pipe.await_end()",
        "",
        "rest/test_host_sinks.py"
        "::test_a_storage_that_does_not_read_the_end_stores_nothing_of_a_block_that_raises",
    ),
    core(
        "host-path",
        "A path of names begins in a folder that the caller sees.",
        "content/files/paths.py::PathLookup.resolve",
        "if start is not None:",
        "if False:",
        "rest/test_host_paths.py::TestResolveFromAFolder"
        "::test_a_folder_that_the_caller_does_not_see_reveals_no_names",
    ),
    core(
        "host-step-up",
        "A sensitive call of a plugin needs a recent proof of the caller's second factor.",
        "assembly/plugin_host/acting.py::ActingUser.identity",
        "if rule.sensitive is not None and caller.key is None:",
        "if False:",
        "rest/test_host_tenants.py"
        "::test_a_request_needs_a_recent_second_factor_and_a_configured_plugin_does_not",
    ),
    core(
        "named-leases",
        "A named lease excludes others.",
        "foundation/jobs/named_leases.py::NamedLeases.acquire",
        'if _IS_EXCLUDED.scalar(connection, {**of_name, "shared": shared}) is not None: return None',
        "",
        "unit/foundation/jobs/test_named_leases.py::test_a_lease_excludes_others_until_it_ends",
    ),
)
