"""Mutants: audit log, events and messages."""

from typing import Final

from tests.mutants.modules import core

_EXPORTS: Final = "extensions/audit_exports/export.py"
_EXPORT_TESTS: Final = "unit/activity/audit/test_export.py"
_DELIVERY_TESTS: Final = "unit/activity/events/test_delivery.py"
_MESSAGES: Final = "activity/notifications/composition.py"
_SENDER_TEST: Final = (
    "unit/activity/notifications/test_senders.py"
    "::test_a_message_goes_to_the_next_sender_only_if_the_one_before_has_not_accepted_it"
)
_MESSAGE_TESTS: Final = "unit/activity/notifications/test_composition.py"

ROWS: Final = (
    core(
        "audit-export-members",
        "A record of an export has no member that its hash does not cover.",
        f"{_EXPORTS}::_record",
        "content.keys() != {*RECORD_NAMES} or",
        "",
        f"{_EXPORT_TESTS}::test_a_changed_file_is_refused",
    ),
    core(
        "audit-export-end",
        "Nothing follows the checkpoint of an export.",
        f"{_EXPORTS}::verify_export",
        "if signed is not None:",
        "if False:",
        f"{_EXPORT_TESTS}::test_a_changed_file_is_refused",
    ),
    core(
        "audit-export-checkpoint",
        "The checkpoint of other records does not confirm an export.",
        f"{_EXPORTS}::verify_export",
        "if covered != (checkpoint.previous, checkpoint.last, checkpoint.records):",
        "if False:",
        f"{_EXPORT_TESTS}::test_a_checkpoint_of_other_records_is_refused",
    ),
    core(
        "audit-export-broken",
        "A chain that is broken gets no checkpoint.",
        f"{_EXPORTS}::AuditExport.lines",
        "link = follow(link, record)",
        'link = Link(record["sequence"], record["hash"])',
        f"{_EXPORT_TESTS}::test_a_broken_chain_has_no_checkpoint",
    ),
    core(
        "events-dead-letter-error",
        "The text of a sink's error, which may contain secrets, is not stored.",
        "activity/events/delivery.py::SinkDelivery._give_up",
        'f"{kind.__module__}.{kind.__qualname__}"[:255]',
        "str(failure.error)[:255]",
        f"{_DELIVERY_TESTS}::test_an_unacceptable_event_becomes_a_dead_letter_and_the_others_are_delivered",
    ),
    core(
        "events-lost-claim",
        "A process that has lost its claim stores no position.",
        "activity/events/positions.py::Positions.save",
        "return is_owned",
        "return True",
        f"{_DELIVERY_TESTS}::test_a_process_that_lost_its_claim_cannot_store_a_position",
    ),
    core(
        "events-claimed",
        "A claimed stream is left to its process.",
        "activity/events/positions.py",
        '_OF_STREAMS, _ROW.is_free, event_positions.c.retry_at <= bindparam("now")',
        '_OF_STREAMS, event_positions.c.retry_at <= bindparam("now")',
        f"{_DELIVERY_TESTS}::test_a_claimed_stream_is_left_to_its_process_until_the_lease_ends",
    ),
    core(
        "mails-escaped",
        "A name is a text in the HTML of a mail.",
        f"{_MESSAGES}::_escaped",
        "name: str(escape(value))",
        "name: value",
        f"{_MESSAGE_TESTS}::test_names_of_users_stay_names",
    ),
    core(
        "mails-subject-code",
        "The code is in the subject only where the server is configured so.",
        f"{_MESSAGES}::Composer._subject",
        "(self.code_in_subject and text.coded_subject) or text.subject",
        "text.coded_subject or text.subject",
        f"{_MESSAGE_TESTS}::test_the_code_stands_in_the_subject_by_setting",
    ),
    core(
        "sms-site-code",
        "Only a one-time code is offered to the fields of the site.",
        f"{_MESSAGES}::Composer._sms_text",
        'if not self.sms_site or not _ONE_TIME_CODE.fullmatch(values.get("code", "")):',
        "if not self.sms_site:",
        f"{_MESSAGE_TESTS}::test_an_sms_with_a_code_names_the_site_in_its_last_line_by_setting",
    ),
    core(
        "messages-uncertain",
        "A message that a gateway may have accepted is not sent by another.",
        "activity/notifications/service.py::MessageService._deliver",
        "self._conclude(message, MessageOutcome.UNCERTAIN, sender.name)\nreturn",
        "pass",
        _SENDER_TEST,
    ),
    core(
        "messages-suppressed",
        "A suppressed message is recorded and not sent.",
        "activity/notifications/service.py::MessageService.send",
        "work = self._suppress if suppressed else self._deliver",
        "work = self._deliver",
        _SENDER_TEST,
    ),
    core(
        "messages-retried",
        "What a gateway has refused for good is not sent to it again.",
        "activity/notifications/service.py::MessageService._send",
        "if not error.retryable:",
        "if False:",
        _SENDER_TEST,
    ),
)
