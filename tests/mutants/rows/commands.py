"""Mutants: commands."""

from typing import Final

from tests.mutants.modules import core

_INIT: Final = "cli/init.py"
_INIT_TESTS: Final = "unit/cli/test_init.py"

ROWS: Final = (
    core(
        "init-folder-mode",
        "Only the owner reads the folder of the signing keys.",
        f"{_INIT}::_write",
        "mkdir(mode=0o700, exist_ok=True)",
        "mkdir(exist_ok=True)",
        f"{_INIT_TESTS}::test_only_the_owner_reads_secrets",
    ),
    core(
        "init-existing",
        "An existing file of a deployment is not replaced.",
        f"{_INIT}::_write",
        "if (folder / path).exists()",
        "if False",
        f"{_INIT_TESTS}::test_an_existing_file_is_never_replaced",
    ),
    core(
        "init-quotes",
        "A text that would need quotes gets into no unit, script or configuration.",
        f"{_INIT}::_PlainText.convert",
        "if not _PLAIN.fullmatch(text):",
        "if False:",
        f"{_INIT_TESTS}::test_texts_that_need_quotes_are_refused",
    ),
    core(
        "init-secret",
        "Each deployment has a secret key of its own.",
        f"{_INIT}::_secret",
        "secrets.token_urlsafe(48)",
        'f"{name:x<64}"',
        f"{_INIT_TESTS}::test_each_run_has_another_secret_key",
    ),
    core(
        "commands-controls",
        "A name does not control the terminal of an administrator.",
        "cli/output.py::echo",
        "with_shown_controls(str(text))",
        "str(text)",
        "rest/test_shown_controls.py::test_the_command_line_shows_them",
    ),
    core(
        "commands-json-controls",
        "A name in JSON does not control the terminal of an administrator.",
        "cli/output.py::terminal_json",
        'return _JSON_CONTROLS.sub(lambda match: f"\\\\u{ord(match[0]):04x}", text)',
        "return text",
        "rest/test_shown_controls.py::test_the_command_line_shows_them",
    ),
    core(
        "commands-export-mode",
        "Only its owner reads a file of exported users.",
        "cli/user_exports.py::_created",
        "0o600",
        "0o644",
        "rest/test_user_exports.py::test_a_command_creates_a_file_that_only_its_owner_reads",
    ),
    core(
        "commands-export-existing",
        "An export of users replaces no file.",
        "cli/user_exports.py::_created",
        "os.O_WRONLY | os.O_CREAT | os.O_EXCL",
        "os.O_WRONLY | os.O_CREAT | os.O_TRUNC",
        "rest/test_user_exports.py::test_a_command_creates_a_file_that_only_its_owner_reads",
    ),
    core(
        "commands-check-hook-contracts",
        "The check of a plugin demands the contracts of tables, erasers and subscribers.",
        "foundation/plugins/kinds.py",
        '"register_tables": "TablesContract",',
        "",
        "unit/cli/test_plugins.py::test_the_check_demands_the_contract_of_each_hook_that_has_one",
    ),
    core(
        "commands-check-hooks-of-requests",
        "A plugin with hooks of requests alone needs no contract of routes.",
        "cli/plugins/listing.py::has_routes",
        "any(blueprint.routes for blueprint in blueprints)",
        "True",
        "unit/cli/test_plugins.py::test_no_example_lacks_a_contract_that_the_check_demands",
    ),
)
