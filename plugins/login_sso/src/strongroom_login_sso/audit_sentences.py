"""What people read about the audit records of single sign-on."""

from typing import Final

from strongroom.plugin_api.audit import AuditSentence

SENTENCES: Final = (
    AuditSentence("domain-add", "{actor} added a domain to {tenant}"),
    AuditSentence("domain-verify", "A domain of {tenant} was proven"),
    AuditSentence("domain-lose", "A domain of {tenant} counts as proven no longer"),
    AuditSentence("domain-remove", "{actor} removed a domain of {tenant}"),
    AuditSentence("provider-create", "{actor} added a provider for logins to {tenant}"),
    AuditSentence("provider-update", "{actor} changed a provider for logins to {tenant}"),
    AuditSentence("provider-delete", "{actor} removed a provider for logins to {tenant}"),
    AuditSentence("break-glass", "{user} logged in to {tenant} without its single sign-on"),
)
