"""Mutants: the rules of the walk of effects, each on one entrance at least."""

from typing import Final

from tests.mutants.modules import core

_WALK: Final = "rest/test_effects.py"
_RECORDED: Final = f"{_WALK}::test_an_effect_is_recorded_and_its_user_informed"
_EVENTS: Final = f"{_WALK}::test_a_file_event_names_who_acted"
_CHANGES: Final = "identity/users/credential_changes.py::CredentialChanges"
ROWS: Final = (
    core(
        "walk-recorded",
        "A changed login is recorded.",
        f"{_CHANGES}.settle",
        "events += (_event(user_id, change, by) for change in changes)",
        "pass",
        _RECORDED,
    ),
    core(
        "walk-informed",
        "The user of a changed login is informed.",
        f"{_CHANGES}._prepare_messages",
        "if settled.by.informs:",
        "if False:",
        _RECORDED,
    ),
    core(
        "walk-voided",
        "A changed login voids links.",
        f"{_CHANGES}._void_secrets",
        "if Rule.VOID_LINKS in rules:",
        "if False:",
        _RECORDED,
    ),
    core(
        "walk-attributed",
        "The actor of an impersonation is the administrator.",
        "foundation/caller.py::attribute_action",
        "if impersonator_id is None:",
        "if True:",
        _EVENTS,
    ),
    core(
        "walk-visitors",
        "What a visitor does is recorded with the plugin that lends the right.",
        "assembly/plugin_host/acting.py::ActingUser.act_for",
        "plugin=self.plugin,",
        "plugin=None,",
        _EVENTS,
    ),
    core(
        "walk-refused",
        "A caller without the right is refused: an impersonation changes nothing.",
        "foundation/caller.py::Caller.confirm",
        "if actor_id is not None and not self.accepts_impersonation:",
        "if False:",
        f"{_WALK}::test_other_callers_are_refused",
    ),
    core(
        "walk-scopes",
        "A caller without the right is refused: a key needs the scope.",
        "foundation/caller.py::KeyLimits.for_use",
        "if use.scope not in self.scopes:",
        "if False:",
        f"{_WALK}::test_other_callers_are_refused",
    ),
    core(
        "walk-ends",
        "A right ends with its key.",
        "identity/access_keys/service.py::AccessKeyService.revoke_for",
        "if not self._remove(connection, key):",
        "if False:",
        f"{_WALK}::test_a_right_ends_with_its_key",
    ),
    core(
        "walk-step-up",
        "A sensitive effect needs a recent proof of the second factor.",
        "identity/accounts/reauthentication.py::Reauthentication.require_factor",
        "if has_factor:",
        "if False:",
        f"{_WALK}::test_a_sensitive_effect_needs_a_recent_proof",
    ),
    core(
        "walk-bound",
        "A visitor's reservation is a tenth of the free quota.",
        "extensions/uploads/visitors.py::VisitorUploads._bytes_ahead",
        "free // _PART_OF_FREE - int(others)",
        "free - int(others)",
        f"{_WALK}::test_a_reservation_stays_within_its_bound",
    ),
)
