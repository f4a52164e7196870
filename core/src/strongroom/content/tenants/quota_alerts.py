"""Records that the quota of a tenant has refused an upload."""

import logging
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Final

from strongroom.activity.audit.outcomes import FAILURE
from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.errors import StrongroomError

INTERVAL: Final = 60 * 60 * 1000
"""Milliseconds for which a process records no further refusal of a tenant."""

logger = logging.getLogger(__name__)


class QuotaAlerts:
    """Records refusals in another thread, because the transaction of the refused upload is rolled back.

    A process records one refusal per tenant and hour, so that clients that repeat an upload do not fill
    the audit log.
    """

    def __init__(self, database: Database, clock: Clock, audit: AuditService) -> None:
        self._database = database
        self._clock = clock
        self._audit = audit
        self._lock = Lock()
        self._recorded: dict[str, int] = {}
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="quota-alerts")

    def note(self, tenant_id: str) -> None:
        """Record a refusal, unless one was recorded within the interval."""
        now = self._clock.now()
        with self._lock:
            # Without the times that are over, so that the map does not grow with the number of tenants.
            recent = {tenant: at for tenant, at in self._recorded.items() if at > now - INTERVAL}
            self._recorded = {tenant_id: now, **recent}
        if tenant_id not in recent:
            self._writer.submit(self._record, tenant_id)

    def close(self) -> None:
        """Write the noted alerts, and stop."""
        self._writer.shutdown()

    def _record(self, tenant_id: str) -> None:
        event = AuditEvent("quota.exceed", outcome=FAILURE, target_type="tenant", target_id=tenant_id)
        try:
            with self._database.write() as connection:
                self._audit.record(connection, event)
        except StrongroomError as error:
            logger.warning("Cannot record an exceeded quota: %s", type(error).__name__)
