"""Builds what one server needs: policies, links, visits, downloads and drops."""

from typing import Final

from sqlalchemy import delete, select

from strongroom.plugin_api.erasers import RemovedFiles
from strongroom.plugin_api.events import Event
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.jobs import JobRun
from strongroom.plugin_api.state import Transaction
from strongroom_share_links.access_log import AccessLog
from strongroom_share_links.cookies import Cookies
from strongroom_share_links.downloads import Downloads
from strongroom_share_links.file_requests import FileRequests
from strongroom_share_links.links import Links, remove
from strongroom_share_links.models import access_log, downloads, links, policies
from strongroom_share_links.options import ShareOptions
from strongroom_share_links.policies import Policies
from strongroom_share_links.proofs import Proofs
from strongroom_share_links.share_opener import ShareOpener
from strongroom_share_links.states import States

DELETED: Final = "tenant.deleted"
RESTORED: Final = "file.restored"

_HOUR: Final = 60 * 60 * 1000
_DAY: Final = 24 * _HOUR
_AT_ONCE: Final = 500


class Shares:
    """The parts of the plugin in one server."""

    def __init__(self, host: HostAPI) -> None:
        self._host = host
        cookies = Cookies(host)
        self.policies = Policies(host)
        self.states = States(host)
        self.links = Links(host, self.policies, self.states)
        self.proofs = Proofs(host, cookies)
        self.access_log = AccessLog(host)
        self.opener = ShareOpener(host, self.policies, self.states, self.proofs)
        self.downloads = Downloads(host, cookies, self.access_log)
        self.file_requests = FileRequests(host, self.opener, self.access_log)
        self.cookies = cookies

    @property
    def options(self) -> ShareOptions:
        """The options of the plugin."""
        options: ShareOptions = self._host.options
        return options

    def settle_uploads(self, run: JobRun) -> int:  # noqa: ARG002  a step is short
        """Free the room of expired uploads of visitors, and return their number."""
        return self.file_requests.settle(self._host.clock.now() - _HOUR)

    def prune(self) -> int:
        """Delete old records, and shares that ended long ago; return how many shares."""
        now = self._host.clock.now()
        before = now - self.options.retention_days * _DAY
        self.states.begin_checks()
        with self._host.database.write() as transaction:
            transaction.execute(delete(downloads).where(downloads.c.expires_at <= now))
            transaction.execute(delete(access_log).where(access_log.c.at < before))
        count, ended = 0, select(links.c.id).where(links.c.expires_at < before).limit(_AT_ONCE)
        while True:
            with self._host.database.write() as transaction:
                ids = transaction.scalars(ended)
                remove(transaction, ids)
            if not ids:
                return count
            count += len(ids)

    def close_restored(self, event: Event) -> None:
        """Close the shares of what came back from the trash; see :meth:`States.close_restored`."""
        self.states.close_restored(event.tenant_id or event.stream)

    def close_tenant(self, event: Event) -> None:
        """Close the shares of a tenant that was deleted; see :meth:`States.close_tenant`."""
        self.states.close_tenant(event.tenant_id or event.subject, event.occurred_at)

    def erase_files(self, transaction: Transaction, removed: RemovedFiles) -> None:
        """Delete the shares of files and folders that are removed."""
        shared = (links.c.tenant_id == removed.tenant_id) & links.c.file_id.in_(removed.ids)
        remove(transaction, transaction.scalars(select(links.c.id).where(shared)))

    def erase_tenant(self, tenant_id: str) -> None:
        """Delete the policy of a tenant, and its shares."""
        with self._host.database.write() as transaction:
            ours = links.c.tenant_id == tenant_id
            remove(transaction, transaction.scalars(select(links.c.id).where(ours)))
            transaction.execute(delete(policies).where(policies.c.tenant_id == tenant_id))
