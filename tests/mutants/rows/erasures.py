"""Mutants: erasers and prune steps of plugins, and hosts of extensions."""

from typing import Final

from tests.mutants.modules import core

_FAILING = "rest/test_failing_erasers.py::"
_RETRY = _FAILING + "test_a_purge_removes_the_files_and_calls_the_eraser_again"
_TENANT = _FAILING + "test_a_tenant_stays_until_it_is_erased_and_keeps_no_other"
_PRUNE = _FAILING + "test_a_prune_step_that_fails_is_named_and_the_others_run"

ROWS: Final = (
    core(
        "erasures-savepoint",
        "What an eraser of files has done before it fails is undone.",
        "content/nodes/file_erasers.py::FileErasers.erase",
        "with connection.begin_nested(): erase(connection, removed)",
        "erase(connection, removed)",
        _RETRY,
    ),
    core(
        "erasures-again",
        "The ids of files that a plugin failed to erase are stored.",
        "content/nodes/file_erasers.py::FileErasers.erase",
        "self._keep(connection, plugin, removed)",
        "",
        _RETRY,
    ),
    core(
        "erasures-once",
        "An eraser that succeeded at last is not called again.",
        "content/nodes/file_erasers.py::FileErasers._erase_again",
        '_FORGET.execute(connection, {"of_id": row.id})',
        "",
        _RETRY,
    ),
    core(
        "erasures-others",
        "A removal that a plugin cannot erase delays none that it can erase.",
        "content/nodes/file_erasers.py::FileErasers._retry",
        "failures += 1",
        "return erased, 1",
        _FAILING + "test_a_removal_that_fails_permanently_delays_no_other",
    ),
    core(
        "erasures-trash",
        "Plugins erase the files of a folder that leaves the trash.",
        "extensions/trash/removal.py::EntryRemoval._remove_some",
        "self._erasers.erase(connection, entry.tenant_id, removed.node_ids)",
        "",
        _RETRY,
    ),
    core(
        "erasures-final",
        "Plugins erase the files of a folder that is deleted without a trash.",
        "content/nodes/node_removal.py::NodeRemoval.remove",
        "self._erasers.erase(connection, node.tenant_id, removed.node_ids)",
        "",
        _FAILING + "test_without_a_trash_a_deletion_erases_a_folder_in_parts",
    ),
    core(
        "erasures-tenant",
        "Plugins erase the files of a tenant that is purged.",
        "content/files/service.py::FilePurge._remove_batch",
        "self._erasers.erase(connection, tenant_id, node_ids)",
        "",
        _TENANT,
    ),
    core(
        "erasures-kept-tenant",
        "The id of a tenant remains until all erasers have succeeded.",
        "content/tenants/tenant_deletions.py::TenantDeletion._erase",
        "is_erased = False",
        "",
        _TENANT,
    ),
    core(
        "erasures-other-tenants",
        "A tenant that cannot be erased keeps no other tenant.",
        "content/tenants/tenant_deletions.py::TenantDeletion.purge",
        "failed.append(tenant_id)",
        "raise",
        _TENANT,
    ),
    core(
        "prune-others",
        "A prune step that fails keeps the rows of no other.",
        "assembly/pruning.py::PruneJob.run",
        'failures.append(f"{name}: {one_line(error)}")',
        "raise",
        _PRUNE,
    ),
    core(
        "prune-failure",
        "A prune with a failed step fails.",
        "assembly/pruning.py::PruneJob.run",
        "if failures:",
        "if False:",
        _PRUNE,
    ),
    core(
        "extensions-attached",
        "An extension has the host of its plugin before its first use.",
        "assembly/infrastructure.py::Infrastructure.construct",
        "self.attach(extension)",
        "pass",
        "rest/test_attached_extensions.py::test_each_kind_of_extension_has_the_host_of_its_plugin",
    ),
)
