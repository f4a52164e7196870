"""Sentences about what a plugin records by ``host.audit``: what ``register_audit_sentences`` returns.

Pages show a record as its sentence; without one, people see the name of the action::

    @hookimpl
    def register_audit_sentences() -> list[AuditSentence]:
        return [AuditSentence("print", "{actor} printed a file of {tenant}")]

The translations of the package have the sentence in other languages, as a whole::

    "{actor} printed a file of {tenant}" = "{actor}打印了{tenant}的一个文件"
"""

import re
from dataclasses import dataclass
from typing import Final

AUDIT_NAMES: Final = frozenset({"actor", "target", "tenant", "user", "name"})
"""What a sentence may have in braces. API 2.0.

``actor`` is who acted, and ``target`` is the user or the tenant that the record is about. Its details
have the ids of ``user`` and ``tenant`` (or ``tenantId``), and the text ``name``.
"""

_BRACES: Final = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class AuditSentence:
    """What people read about the records of an action that have succeeded. API 2.0.

    Args:
        action: the action, as for ``host.audit``.
        text: the sentence in English, without a full stop, with some of :data:`AUDIT_NAMES` in braces.

    Raises:
        ValueError: the text has another name in braces.
    """

    action: str
    text: str

    def __post_init__(self) -> None:
        if unknown := {*_BRACES.findall(self.text)} - AUDIT_NAMES:
            rule = f"it may have {', '.join(sorted(AUDIT_NAMES))}"
            raise ValueError(f"a sentence has no {{{min(unknown)}}}; {rule}")
