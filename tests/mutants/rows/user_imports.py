"""Mutants: imports and exports of users."""

from typing import Final

from tests.mutants.modules import core

ROWS: Final = (
    core(
        "imports-protected",
        "An import changes neither administrators nor services.",
        "extensions/user_imports/plan.py::Planner._update",
        "if user.type != UserType.USER or user.deleted_at is not None:",
        "if False:",
        "rest/test_user_imports.py::test_an_update_changes_no_administrator",
    ),
    core(
        "imports-own-password",
        "An update keeps a password that was used here.",
        "extensions/user_imports/writer.py::ImportWriter._update",
        "if line.password is not None and not keeps_password:",
        "if line.password is not None:",
        "rest/test_user_imports.py::test_an_update_keeps_a_password_that_was_used_here",
    ),
    core(
        "imports-right-of-caller",
        "An import ends with the right of its caller.",
        "extensions/user_imports/worker.py::ImportWorker._import",
        "if not self._rights.has_right(connection, job):",
        "if False:",
        "rest/test_user_imports.py::test_an_import_ends_with_the_right_of_its_caller",
    ),
    core(
        "imports-key-of-caller",
        "An import ends with the access key that it was begun with.",
        "extensions/user_imports/caller_rights.py::CallerRights.has_right",
        "return job.key_id is None or self._is_good(connection, job.created_by, job.key_id)",
        "return True",
        "rest/test_user_imports.py::test_an_import_ends_with_the_right_of_its_caller",
    ),
    core(
        "exports-other-key",
        "A hash of another secret key is refused.",
        "identity/users/password_hashing.py::PasswordHasher._of_same_key",
        "if described[_KEY] != self._fingerprint:",
        "if False:",
        "rest/test_user_exports.py::test_hashes_of_another_secret_key_are_refused_with_a_code_of_their_own",
    ),
    core(
        "exports-digest",
        "The parameters of an exported digest are checked at the import.",
        "identity/users/password_hashing.py::PasswordHasher._of_same_key",
        "_require_digest(scheme, parameters)",
        "pass",
        "rest/test_user_exports.py::test_a_changed_line_of_an_export_is_refused",
    ),
    core(
        "exports-encryption",
        "Secrets are exported only encrypted.",
        "cli/user_exports.py::export_users",
        "if with_secrets and not is_encrypted:",
        "if False:",
        "rest/test_user_exports.py::test_secrets_are_never_exported_without_encryption",
    ),
)
