"""Mutants: backups."""

from typing import Final

from tests.mutants.modules import core

ROWS: Final = (
    core(
        "backup-foreign-base",
        "An archive does not continue an archive of another database.",
        "extensions/backup/create.py::_require_continuable",
        "if former.database != manifest.database:",
        "if False:",
        "e2e/test_incremental_backup.py::test_an_archive_of_another_database_is_no_base",
    ),
    core(
        "backup-wrong-base",
        "A base is the very archive that was continued, not one of its name.",
        "extensions/backup/chain.py::_find_base",
        "if reader.digest == base.digest:",
        "if True:",
        "e2e/test_incremental_backup.py::test_a_missing_or_wrong_base_is_refused",
    ),
    core(
        "backup-former-faults",
        "Bytes that the base lacks are copied once they are back.",
        "extensions/backup/create.py::_list_former_faults",
        "_Entry(*row).write(listing)",
        "pass",
        "e2e/test_incremental_backup.py::test_bytes_that_the_base_lacks_are_tried_again",
    ),
    core(
        "tenant-restore-members",
        "A member who was removed since does not get the former rights back.",
        "extensions/backup/restore_tenant.py::_TenantCopy._accept_member",
        "if self._exists:",
        "if False:",
        "e2e/test_tenant_restore.py::test_former_rights_are_not_restored",
    ),
    core(
        "tenant-restore-users",
        "A deleted user is no member of a restored tenant.",
        "extensions/backup/restore_tenant.py::_TenantCopy._accept_member",
        'if not self._user(row["user_id"])[1]:',
        "if False:",
        "e2e/test_tenant_restore.py::test_former_rights_are_not_restored",
    ),
    core(
        "tenant-restore-bytes",
        "Bytes that differ from their checksum are not restored.",
        "extensions/backup/restore_tenant.py::_TenantCopy._receive",
        'if (blob.size, blob.checksum) != (size, row["checksum"]):',
        "if False:",
        "e2e/test_tenant_restore.py::test_damaged_bytes_are_not_restored",
    ),
)
