"""What people read about the audit records of links."""

from typing import Final

from strongroom.plugin_api.audit import AuditSentence

SENTENCES: Final = (
    AuditSentence("create", "{actor} created a link in {tenant}"),
    AuditSentence("update", "{actor} changed a link in {tenant}"),
    AuditSentence("delete", "{actor} deleted a link in {tenant}"),
    AuditSentence("policy", "{actor} changed the rules of links of {target}"),
)
