"""Mutants: operation."""

from typing import Final

from tests.mutants.modules import core

ROWS: Final = (
    core(
        "audit-changed",
        "A record of the audit log that was changed is found.",
        "activity/audit/verifier.py::follow",
        "if link.hash != _recomputed_hash(previous, record):",
        "if False:",
        "unit/activity/audit/test_verifier.py::test_a_changed_column_shows",
    ),
    core(
        "audit-removed",
        "A record of the audit log that was removed is found.",
        "activity/audit/verifier.py::follow",
        "if sequence > expected:",
        "if False:",
        "unit/activity/audit/test_verifier.py::test_records_removed_inserted_or_moved_show",
    ),
    core(
        "audit-progress",
        "The progress of a verification that the server has not signed is refused.",
        "activity/audit/verifier.py::ChainVerification._load",
        "is_signed = hmac.compare_digest(signature, self._signature(key_range, content))",
        "is_signed = True",
        "unit/activity/audit/test_range_verification.py::test_a_forged_progress_is_refused",
    ),
    core(
        "audit-joints",
        "A range of the audit log begins with the link that the range before ends with.",
        "activity/audit/verifier.py::ChainVerification._require_joints",
        "if after.start != before.link and start.sequence <= int(key_range.last or 0):",
        "if False:",
        "unit/activity/audit/test_range_verification.py::"
        "test_hashes_that_are_recomputed_between_two_ranges_are_found",
    ),
    core(
        "secret-fingerprint",
        "A server with another secret key does not take the database.",
        "foundation/database/installation.py::is_own_secret",
        "return stored is None or hmac.compare_digest(stored, fingerprint)",
        "return True",
        "unit/foundation/database/test_installation.py::test_a_database_accepts_its_first_secret_key_alone",
    ),
    core(
        "storage-owner",
        "A server leaves the store of another database alone.",
        "content/storage/ownership.py::StorageOwnership._difference",
        "if owner.database != mine:",
        "if False:",
        "unit/content/storage/test_ownership.py"
        "::test_nothing_is_written_to_or_removed_from_a_store_of_another_database",
    ),
    core(
        "object-files-discard",
        "An object that is not written completely does not become visible.",
        "plugin_api/object_files.py::DiscardableFile.__exit__",
        "if error is not None:",
        "if False:",
        "storage_s3/test_filesystem.py::test_a_writer_left_by_an_exception_stores_nothing",
    ),
    core(
        "object-files-append",
        "A file that is opened for appending is not overwritten.",
        "plugin_api/object_files.py::EditedFile.write",
        "if self._append:",
        "if False:",
        "storage_s3/test_filesystem.py::test_appending_goes_to_the_end_wherever_the_file_stands",
    ),
    core(
        "keys-short",
        "An HMAC key that is too short does not sign.",
        "identity/sessions/signing_keys.py::_check",
        "if isinstance(key, OctKey) and len(key.raw_value) * 8 < MIN_HMAC_BITS:",
        "if False:",
        "unit/identity/sessions/test_keys.py::TestLoad::test_a_key_that_is_short_or_of_another_kind",
    ),
    core(
        "production-plugin-files",
        "Production runs no one-file plugin that others can change.",
        "foundation/config/plugin_discovery.py::writable_by_others",
        "path.stat().st_mode & stat.S_IWOTH",
        "path.stat().st_mode & 0",
        "unit/foundation/plugins/test_plugin_files.py::test_production_runs_no_file_that_others_can_change",
    ),
    core(
        "production-development-options",
        "Production refuses options that are for development only.",
        "extensions/production_checks/checks.py::_options",
        'if item.metadata["development_only"]:',
        "if False:",
        "e2e/test_production_refusals.py::test_unsafe_settings_are_refused_by_key_with_a_remedy",
    ),
    core(
        "production-debugger",
        "Production refuses a debugger.",
        "extensions/production_checks/checks.py::_debug",
        '.lower() not in ("", "0", "false", "no"):',
        ".lower() is None:",
        "unit/foundation/config/test_wrong_configurations.py::test_a_debugger_is_refused",
    ),
    core(
        "smtp-plaintext",
        "Mail with codes does not leave the machine in plain text.",
        "builtin/smtp.py::_require_encryption",
        'if options.encryption == "none" and not is_local and not options.allow_plaintext:',
        "if False:",
        "e2e/test_deployer_mistakes.py"
        "::test_each_mistake_has_its_answer_and_the_answers_score_at_least_2_8_of_3",
    ),
    core(
        "refresh-below-access",
        "Refresh tokens do not end before access tokens.",
        "foundation/config/accounts.py::TokensSettings.__post_init__",
        "if self.refresh_lifetime_seconds < self.lifetime_seconds:",
        "if False:",
        "e2e/test_deployer_mistakes.py"
        "::test_each_mistake_has_its_answer_and_the_answers_score_at_least_2_8_of_3",
    ),
    core(
        "production-readable-secret",
        "Production refuses secrets that other users of the machine can read.",
        "foundation/secret_keys.py::is_readable_by_others",
        "return bool(status.st_mode & others)",
        "return False",
        "unit/foundation/config/test_wrong_configurations.py"
        "::test_a_secret_that_others_can_read_is_refused_with_the_command_that_protects_it",
    ),
    core(
        "database-jit",
        "PostgreSQL compiles no statements of the server.",
        "foundation/database/postgresql.py::Connector._with_settings",
        "settings = [NO_JIT, _MARK]",
        "settings = [_MARK]",
        "unit/foundation/database/test_compilation.py"
        "::test_no_statement_of_the_usage_of_a_tenant_is_compiled",
    ),
    core(
        "usage-without-hold",
        "The usage of a tenant without a hold runs no recursive statement.",
        "content/nodes/removal_guard.py::held_bytes",
        "if not _HAS_HOLD.scalar(connection, parameters):",
        "if False:",
        "unit/foundation/database/test_compilation.py"
        "::test_no_statement_of_the_usage_of_a_tenant_is_compiled",
    ),
    core(
        "production-sample-secret",
        "Production refuses a published or simple secret key.",
        "extensions/production_checks/checks.py::_secret",
        "if is_sample_secret(secret):",
        "if False:",
        "unit/foundation/config/test_wrong_configurations.py"
        "::test_a_wrong_key_or_value_is_one_line_with_the_key_and_what_would_be_right",
    ),
    core(
        "production-https",
        "Production refuses a public URL without TLS.",
        "extensions/production_checks/checks.py::_addresses",
        'elif urlsplit(stated).scheme != "https":',
        "elif False:",
        "unit/foundation/config/test_wrong_configurations.py"
        "::test_a_wrong_key_or_value_is_one_line_with_the_key_and_what_would_be_right",
    ),
    core(
        "production-proxies",
        "Production trusts no address of every client.",
        "extensions/production_checks/checks.py::_addresses",
        "if any(parse_network(text).prefixlen == 0 for text in settings.server.trusted_proxies):",
        "if False:",
        "unit/foundation/config/test_wrong_configurations.py"
        "::test_a_wrong_key_or_value_is_one_line_with_the_key_and_what_would_be_right",
    ),
    core(
        "production-captcha",
        "Production refuses extensions for development.",
        "extensions/production_checks/checks.py::_extensions",
        "if selection.captcha.extension.development_only:",
        "if False:",
        "unit/foundation/config/test_wrong_configurations.py"
        "::test_a_wrong_key_or_value_is_one_line_with_the_key_and_what_would_be_right",
    ),
    core(
        "production-console-sender",
        "Production sends no codes to the log.",
        "extensions/production_checks/checks.py::_extensions",
        "if choice.extension.development_only:",
        "if False:",
        "unit/foundation/config/test_wrong_configurations.py"
        "::test_a_wrong_key_or_value_is_one_line_with_the_key_and_what_would_be_right",
    ),
    core(
        "production-secret-file",
        "Production refuses a secret key that others can read.",
        "extensions/production_checks/checks.py::_secret",
        "if file is not None and is_readable_by_others(file):",
        "if False:",
        "unit/foundation/config/test_wrong_configurations.py"
        "::test_a_secret_that_others_can_read_is_refused_with_the_command_that_protects_it",
    ),
    core(
        "production-key-file",
        "Production refuses signing keys that others can read.",
        "extensions/production_checks/checks.py::_signing_keys",
        "if is_readable_by_others(keys_file):",
        "if False:",
        "unit/foundation/config/test_wrong_configurations.py"
        "::test_a_secret_that_others_can_read_is_refused_with_the_command_that_protects_it",
    ),
    core(
        "readiness-errors",
        "The readiness shows no text of an unexpected error.",
        "extensions/observability/readiness.py::_outcome",
        'f"It failed: {type(error).__name__}."',
        'f"It failed: {error}."',
        "unit/extensions/observability/test_readiness.py::test_an_unexpected_error_is_reported_by_its_type_only",
    ),
)
