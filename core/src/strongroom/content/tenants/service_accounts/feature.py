"""Service accounts: users of a tenant for programs."""

from strongroom.web.feature import Feature


class ServiceAccountsFeature(Feature):
    """Service accounts of tenants. Their events are those of ``identity.service_accounts``."""

    blueprints = ("views:blueprint",)
