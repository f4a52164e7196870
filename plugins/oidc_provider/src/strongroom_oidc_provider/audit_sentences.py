"""What people read about the audit records of applications and devices."""

from typing import Final

from strongroom.plugin_api.audit import AuditSentence

SENTENCES: Final = (
    AuditSentence("client-create", "{actor} registered the application {name}"),
    AuditSentence("client-update", "{actor} changed the application {name}"),
    AuditSentence("client-delete", "{actor} deleted the application {name}"),
    AuditSentence("client-enable", "{actor} turned the application {name} on"),
    AuditSentence("client-disable", "{actor} turned the application {name} off"),
    AuditSentence("client-rotate-secret", "{actor} replaced the secret of the application {name}"),
    AuditSentence("consent-give", "{actor} allowed an application"),
    AuditSentence("consent-withdraw", "{actor} withdrew the consent to an application"),
    AuditSentence("device-allow", "{actor} logged a device in"),
    AuditSentence("device-refuse", "{actor} refused the login of a device"),
)
