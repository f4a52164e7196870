"""What people read about the audit records of agents."""

from typing import Final

from strongroom.plugin_api.audit import AuditSentence

SENTENCES: Final = (
    AuditSentence("call", "An agent of {actor} used files"),
    AuditSentence("upload", "An agent of {actor} uploaded a file"),
)
