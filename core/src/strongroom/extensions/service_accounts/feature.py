"""Service accounts: users of a tenant for programs."""

from strongroom.web.feature import Feature


class ServiceAccountsFeature(Feature):
    """Service accounts of tenants. ``identity.service_accounts`` declares their events."""

    blueprints = ("views:blueprint",)
    resource_kinds = "resource_kinds:KINDS"
    services = "services:ServiceAccountServices"
