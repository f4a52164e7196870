"""What people read about the audit records of webhooks."""

from typing import Final

from strongroom.plugin_api.audit import AuditSentence

SENTENCES: Final = (
    AuditSentence("endpoint-create", "{actor} created a webhook of {tenant}"),
    AuditSentence("endpoint-update", "{actor} changed a webhook of {tenant}"),
    AuditSentence("endpoint-delete", "{actor} deleted a webhook of {tenant}"),
    AuditSentence("endpoint-test", "{actor} tested a webhook of {tenant}"),
    AuditSentence("endpoint-stop", "A webhook of {tenant} was stopped"),
    AuditSentence("endpoint-rotate-secret", "{actor} replaced the secret of a webhook of {tenant}"),
    AuditSentence("endpoint-redeliver", "{actor} sent a message of a webhook of {tenant} again"),
    AuditSentence("endpoint-replay", "{actor} sent earlier messages of a webhook of {tenant} again"),
    AuditSentence("endpoint-take-over", "{actor} took over a webhook of {tenant}"),
)
