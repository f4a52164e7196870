"""Implements ``host.server``: the state of the server, for its administrators."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

from strongroom.activity.audit.verifier import AuditVerifier
from strongroom.activity.notifications.service import MessageService
from strongroom.assembly.doctor import assemble_doctor
from strongroom.assembly.plugin_host.acting import ActingUser
from strongroom.assembly.plugin_host.caller import AsCaller, make_paging
from strongroom.assembly.plugin_host.server_records import (
    chain_record,
    finding,
    installed,
    job_record,
    limit_records,
    loaded,
    message_record,
    setting,
    storage_record,
    timed_test,
)
from strongroom.content.storage.service import BlobService
from strongroom.content.storage.stores import Holding, Inventory
from strongroom.extensions.audit_exports.stepwise import StepwiseVerification
from strongroom.extensions.observability.bounded_calls import BoundedCalls
from strongroom.extensions.observability.doctor import Doctor
from strongroom.extensions.observability.examination import PATIENCE_SECONDS, BoundedDoctor
from strongroom.extensions.observability.totals import ServerSize, SizeCounter
from strongroom.foundation.config.describe import SecretMask, Section, values
from strongroom.foundation.config.plugin_discovery import installed_plugins
from strongroom.foundation.errors import Forbidden, ImpersonationRefused, NotFound
from strongroom.foundation.operations import OperationRule
from strongroom.plugin_api import API_VERSION
from strongroom.plugin_api import server as api
from strongroom.version import __version__

if TYPE_CHECKING:
    from strongroom.assembly.services import Services

T = TypeVar("T")

_READ: Final = OperationRule("read the state of the server")
_COUNTED_SECONDS: Final = 10.0


class HostServer(AsCaller, api.ServerAPI):
    """Implements ``host.server``."""

    patience: ClassVar = PATIENCE_SECONDS
    """Seconds that the database and each storage have to respond."""

    def __init__(self, user: ActingUser) -> None:
        super().__init__(user)
        self._lock = Lock()
        self._tests: dict[str, BoundedCalls[api.StorageTest]] = {}

    def info(self) -> api.ServerInfo:
        services = self._administered()
        size = _result(self._size)
        return api.ServerInfo(
            version=__version__,
            api_version=API_VERSION,
            mode=services.settings.server.mode,
            database=services.database.engine.dialect.name,
            users=size.users if size else None,
            tenants=size.tenants if size else None,
            stored_bytes=size.stored_bytes if size else None,
        )

    def settings(self) -> Sequence[api.ServerSetting]:
        services = self._administered()
        return self._settings_in(services.selection.all_sections(services.settings))

    def findings(self, *, since: int | None = None) -> api.ServerFindings:
        self._administered()
        examination = self._doctor.examine(since)
        findings = [finding(result, self._mask) for result in examination.results]
        return api.ServerFindings(examination.examined_at, findings)

    def storages(self) -> Sequence[api.StorageInfo]:
        services = self._administered()
        blobs, holdings = services.get(BlobService), _result(self._holdings)
        known = {holding.storage: holding for holding in holdings or ()}
        names = sorted({*blobs.storages, *known})
        return [storage_record(name, services.settings, blobs, known.get(name)) for name in names]

    def test_storage(self, name: str) -> api.StorageTest:
        storages = self._administered().get(BlobService).storages
        if name not in storages:
            raise NotFound
        with self._lock:
            if name not in self._tests:
                test = partial(timed_test, self._assembled_doctor, name, self._mask)
                self._tests[name] = self._bounded(test)
        fault, milliseconds = "does not respond", round(self.patience * 1000)
        return _result(self._tests[name]) or api.StorageTest(fault, milliseconds)

    def plugins(self) -> Sequence[api.PluginInfo]:
        services = self._administered()
        manager, sections = services.selection.plugins, services.selection.sections()
        enabled = [loaded(manager, each, sections, self._settings_in) for each in manager.plugins]
        others = sorted(installed_plugins().keys() - {each.name for each in enabled})
        return [*enabled, *map(installed, others)]

    def jobs(self) -> Sequence[api.JobInfo]:
        services = self._administered()
        states, now = services.job_leases.states(), services.base.clock.now()
        return [
            job_record(name, job, states.get(name), now) for name, job in services.registry.jobs.items()
        ]

    def limits(self) -> Sequence[api.LimitInfo]:
        return limit_records(self._administered().settings.limits)

    def messages(
        self, *, page: int = 1, size: int = 100, recipient: str = ""
    ) -> Sequence[api.SentMessage]:
        messages = self._administered().get(MessageService)
        return [message_record(row) for row in messages.newest(make_paging(page, size), recipient)]

    def audit_sentences(self) -> Mapping[str, str]:
        sentences = self._administered().registry.audit_sentences
        return {action: sentence.text for action, sentence in sentences.items()}

    def audit_chain(self) -> api.AuditChain:
        self._administered()
        return chain_record(self._verification.step())

    def _administered(self) -> "Services":
        """Return the services, for an administrator of the server.

        Raises:
            Forbidden: the caller administers no server.
            ImpersonationRefused: an administrator impersonates the caller.
        """
        caller = self._caller(_READ)
        if caller.actor_id is not None:
            raise ImpersonationRefused
        if not caller.is_admin:
            raise Forbidden
        return self._user.services()

    def _settings_in(self, sections: Sequence[Section]) -> list[api.ServerSetting]:
        raw = self._user.services().base.configuration.raw
        return [setting(value) for value in values(sections, raw)]

    @cached_property
    def _mask(self) -> SecretMask:
        services = self._user.services()
        return SecretMask(services.selection.all_sections(services.settings))

    @cached_property
    def _assembled_doctor(self) -> Doctor:
        services = self._user.services()
        return assemble_doctor(services, lambda: services.registry.jobs)

    @cached_property
    def _doctor(self) -> BoundedDoctor:
        base = self._user.services().base
        doctor = BoundedDoctor(self._assembled_doctor, base.clock, patience=self.patience)
        base.resources.callback(doctor.close)
        return doctor

    @cached_property
    def _verification(self) -> StepwiseVerification:
        return StepwiseVerification(self._get(AuditVerifier), self._user.services().base.clock)

    @cached_property
    def _size(self) -> BoundedCalls[ServerSize]:
        return self._bounded(SizeCounter(self._user.services().database, _COUNTED_SECONDS).count)

    @cached_property
    def _holdings(self) -> BoundedCalls[list[Holding]]:
        return self._bounded(self._get(Inventory).holdings)

    def _bounded(self, call: Callable[[], T]) -> BoundedCalls[T]:
        calls = BoundedCalls({_CALL: call}, self.patience, "server-state")
        self._user.services().base.resources.callback(calls.close)
        return calls


_CALL: Final = "call"


def _result(calls: BoundedCalls[T]) -> T | None:
    """Return the result of a bounded call; ``None`` if it did not return in time, or failed."""
    call = calls.results()[_CALL]
    return call.result() if call is not None and call.exception() is None else None
