"""Mutants: scanning."""

from typing import Final

from tests.mutants.modules import clamd, core

ROWS: Final = (
    core(
        "scan-pending",
        "Content that is not scanned yet cannot be read.",
        "content/scanning/states.py",
        "ScanState.UNSCANNABLE.value})",
        "ScanState.UNSCANNABLE.value, ScanState.PENDING.value})",
        "rest/test_scanning.py::test_a_big_file_is_held_back_until_it_is_scanned",
    ),
    core(
        "scan-quarantined",
        "Content in quarantine cannot be read.",
        "content/scanning/states.py::require_readable",
        "raise Quarantined",
        "return",
        "rest/test_scanning.py::test_a_big_virus_goes_into_quarantine",
    ),
    core(
        "scan-read-rule",
        "The read rule of files includes the scan state, also for content that nginx sends.",
        "content/nodes/access.py::NodeAccess.require_content",
        "require_readable(node.scan)",
        "pass",
        "rest/test_unreadable_content.py::test_no_read_route_returns_it",
    ),
    core(
        "scan-open",
        "The content of a node is opened only if it can be read, however the node was found.",
        "content/files/service.py::FileService.open",
        "require_readable(node.scan)",
        "pass",
        "rest/test_unreadable_content.py::test_the_services_refuse_it_to_plugins",
    ),
    core(
        "scan-bundle-folder",
        "Bundles of folders leave out files in quarantine.",
        "extensions/bundles/contents.py::_add",
        "if scan is not None and not _is_included(scan):",
        "if False:",
        "rest/test_scanning.py::TestBundles::test_folders_leave_out_files_in_quarantine",
    ),
    core(
        "scan-bundle-file",
        "A file that cannot be read is in no bundle.",
        "extensions/bundles/contents.py::Contents._readable",
        "require_readable(row.scan)",
        "pass",
        "rest/test_scanning.py::TestBundles::test_folders_leave_out_files_in_quarantine",
    ),
    core(
        "scan-business-file",
        "Business files and their variants are read only after a scan.",
        "extensions/business_files/service.py::BusinessFileService.get",
        "require_readable(file.scan)",
        "pass",
        "rest/test_scanning.py::TestBusinessFiles::test_a_virus_is_refused_or_held",
    ),
    core(
        "scan-forgotten",
        "Content that was not inspected is held back.",
        "content/scanning/inspection.py::_result",
        "received.result if isinstance(received, InspectedBlob) else PENDING",
        "received.result if isinstance(received, InspectedBlob) else ScanResult(ScanState.CLEAN)",
        "rest/test_scanning.py::test_content_that_an_upload_forgot_to_inspect_is_held_back",
    ),
    core(
        "scan-head",
        "Scanners of the head do not decide for those that need the whole content.",
        "content/scanning/scanners.py::Scanners.scan_head",
        "return result if is_final else PENDING",
        "return result",
        "rest/test_scanning.py::test_a_big_file_is_held_back_until_it_is_scanned",
    ),
    core(
        "scan-claim",
        "Only the holder of a claim stores a result.",
        "foundation/database/leases.py::RowLease.__init__",
        'self.is_owned = self.is_row & (owner == bindparam("owner"))',
        "self.is_owned = self.is_row",
        "rest/test_scanning.py::TestSeveralNodes::"
        "test_a_worker_that_stalled_does_not_overwrite_a_later_result",
    ),
    core(
        "scan-replaced",
        "A result applies only to the content that was scanned.",
        "content/files/scan_states.py",
        'nodes.c.blob_key == bindparam("of_key"),',
        "",
        "rest/test_scanning.py::TestSeveralNodes::"
        "test_content_that_was_replaced_meanwhile_keeps_its_own_state",
    ),
    core(
        "quarantine-admin",
        "Only administrators release files from quarantine.",
        "content/scanning/views.py::release_from_quarantine",
        '"/<scan_id>/release", access=Access.ADMIN,',
        '"/<scan_id>/release",\naccess=Access.USER,',
        "rest/test_scanning.py::TestQuarantine::test_only_administrators_of_the_server_see_it",
    ),
    core(
        "quarantine-proof",
        "A release needs a fresh proof.",
        "content/scanning/views.py::release_from_quarantine",
        "require_fresh_proof()",
        "",
        "rest/test_scanning.py::TestQuarantine::test_a_release_needs_a_reason_and_a_fresh_proof",
    ),
    clamd(
        "clamd-ok",
        "Only the answer OK means that clamd found nothing.",
        "scanner.py::_verdict",
        'if text == "OK":',
        'if "OK" in text:',
        "scan_clamd/test_clamd.py::test_only_a_whole_ok_is_clean",
    ),
)
