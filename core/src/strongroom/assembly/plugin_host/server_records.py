"""Converts the core's records to the records of ``host.server``."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from time import perf_counter
from typing import Any, Final

from strongroom.content.storage.service import BlobService
from strongroom.content.storage.stores import Holding
from strongroom.extensions.audit_exports.stepwise import VerifiedPart
from strongroom.extensions.observability.doctor import CheckResult, Doctor
from strongroom.foundation.config import Settings
from strongroom.foundation.config.describe import (
    ConfigurationValue,
    SecretMask,
    Section,
    value_is_changed,
)
from strongroom.foundation.config.limits import LimitsSettings
from strongroom.foundation.config.plugin_discovery import installed_version
from strongroom.foundation.jobs.models import JobState
from strongroom.foundation.plugins.kinds import provided_by
from strongroom.foundation.plugins.manager import PluginManager
from strongroom.foundation.plugins.plugin import Plugin
from strongroom.foundation.plugins.selection import BUILTIN
from strongroom.plugin_api import server as api
from strongroom.plugin_api.contacts import masked
from strongroom.plugin_api.jobs import Job

_PROFILE: Final = "profile"


def setting(value: ConfigurationValue) -> api.ServerSetting:
    """Return the value of a key."""
    return api.ServerSetting(
        ".".join(value.path), value.text, value.origin, value.is_changed, value.help
    )


def finding(result: CheckResult, mask: SecretMask) -> api.ServerFinding:
    """Return a finding of the doctor, without secrets in the messages of drivers."""
    texts = map(mask.hide, (result.message, result.remedy))
    return api.ServerFinding(result.part, result.state.value, *texts)


def storage_record(
    name: str, settings: Settings, blobs: BlobService, holding: Holding | None
) -> api.StorageInfo:
    """Return a storage.

    Args:
        holding: its content; ``None``: unknown.
    """
    configured = settings.storages.get(name)
    return api.StorageInfo(
        name=name,
        backend=blobs.storages[name].backend.name if name in blobs.storages else None,
        over=configured.over if configured else None,
        is_target=name == blobs.target,
        files=holding.files if holding else None,
        size=holding.size if holding else None,
        leftovers=holding.leftovers if holding else None,
    )


def timed_test(doctor: Doctor, name: str, mask: SecretMask) -> api.StorageTest:
    """Write, read and delete an object of a storage."""
    begin = perf_counter()
    result = doctor.examine_storage(name)
    milliseconds = round((perf_counter() - begin) * 1000)
    return api.StorageTest(mask.hide(result.message) if result.remedy else None, milliseconds)


def loaded(
    manager: PluginManager,
    plugin: Plugin,
    sections: Sequence[Section],
    settings_in: Callable[[Sequence[Section]], list[api.ServerSetting]],
) -> api.PluginInfo:
    """Return an enabled plugin, with the keys of its own section and of its extensions."""
    types = {extension.options_type for extension in manager.get_extensions(plugin)}
    own = ("plugins", plugin.name)
    of_plugin = [each for each in sections if each.path == own or each.options_type in types]
    return api.PluginInfo(
        name=plugin.name,
        version=plugin.version,
        api_version=plugin.module.API_VERSION,
        is_enabled=True,
        is_builtin=plugin.module in BUILTIN,
        provides=provided_by(manager, plugin),
        file=str(plugin.file) if plugin.file else None,
        options=settings_in(of_plugin),
    )


def installed(name: str) -> api.PluginInfo:
    """Return a plugin that is installed and not enabled."""
    return api.PluginInfo(
        name=name,
        version=installed_version(name),
        api_version=None,
        is_enabled=False,
        is_builtin=False,
        provides=(),
        file=None,
        options=(),
    )


def job_record(name: str, job: Job, state: JobState | None, now: int) -> api.JobInfo:
    """Return a job.

    Args:
        state: the row of the job; ``None`` if no server has registered it.
        now: the time, which decides whether a run is in progress.
    """
    every = round(job.every.total_seconds())
    if state is None:
        return api.JobInfo(name, every, "new", None, None, None, None, None)
    return api.JobInfo(
        name,
        every,
        _status(state, now),
        state.due_at,
        state.started_at,
        state.succeeded_at,
        state.failed_at,
        state.failure if state.has_failed else None,
    )


def _status(state: JobState, now: int) -> api.JobStatus:
    if state.is_running(now):
        return "running"
    return "failed" if state.has_failed else "waiting"


def limit_records(settings: LimitsSettings) -> list[api.LimitInfo]:
    """Return all limits."""
    return [
        api.LimitInfo(
            item.name,
            _rates(getattr(settings, item.name)),
            value_is_changed(item, getattr(settings, item.name)),
            item.metadata["help"],
        )
        for item in fields(settings)
        if item.name != _PROFILE
    ]


def _rates(value: Any) -> Sequence[str]:
    return tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)


def message_record(row: Any) -> api.SentMessage:
    """Return a message, with its recipient masked."""
    return api.SentMessage(
        id=row.id,
        template=row.template,
        channel=row.channel,
        recipient=masked(row.recipient),
        status=row.outcome,
        sender=row.sender,
        created_at=row.created_at,
        sent_at=row.sent_at,
    )


def chain_record(part: VerifiedPart) -> api.AuditChain:
    """Return how far the audit log was verified."""
    fault = part.fault
    return api.AuditChain(
        part.through,
        part.newest,
        fault.sequence if fault else None,
        str(fault) if fault else None,
        part.checked_at,
    )
