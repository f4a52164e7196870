"""The state of the server, for its administrators: ``host.server``.

For pages that show what ``strongroom config show``, ``doctor``, ``storage list``, ``plugins list``,
``jobs list`` and ``audit verify`` print. It needs a user who administers the server and is not
impersonated; access keys are refused. Secrets are masked.

No method keeps a thread for long: what the database or a storage has not returned within some seconds
is reported as missing.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

FindingState = Literal["ok", "warning", "failed"]
"""``failed``: the server cannot work; ``warning``: it works, with a problem."""

JobStatus = Literal["new", "waiting", "running", "failed"]
"""``new``: no server has registered the job yet; ``failed``: its last run failed."""

MessageStatus = Literal["pending", "sent", "failed", "uncertain", "suppressed"]
"""``suppressed``: recorded but not sent, so that nothing reveals who is registered."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """The version and the size of the server.

    Args:
        mode: ``production`` or ``development``.
        database: ``sqlite`` or ``postgresql``.
        users: the users that are not deleted; ``None``: the database did not respond in time.
        tenants: the tenants that are not deleted; ``None`` as above.
        stored_bytes: the bytes that count against quotas; ``None`` as above.
    """

    version: str
    api_version: str
    mode: str
    database: str
    users: int | None
    tenants: int | None
    stored_bytes: int | None


@dataclass(frozen=True, slots=True)
class ServerSetting:
    """The value of a key of the configuration.

    Args:
        key: the path, such as ``server.port``.
        value: in TOML syntax; ``"..."`` for a secret that is set.
        origin: a line of the file, a variable of the environment, or ``default``.
        is_changed: whether the value differs from the default.
        help: the description of the key, in English.
    """

    key: str
    value: str
    origin: str
    is_changed: bool
    help: str


@dataclass(frozen=True, slots=True)
class ServerFinding:
    """What the doctor has found in one part of the server.

    Args:
        part: the key of the configuration, or another name of the part.
        remedy: how to correct it; empty if nothing needs to be done.
    """

    part: str
    state: FindingState
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class ServerFindings:
    """The findings of all parts.

    Args:
        examined_at: when the parts were examined, in milliseconds since the Unix epoch.
        findings: failures first, then warnings.
    """

    examined_at: int
    findings: Sequence[ServerFinding]


@dataclass(frozen=True, slots=True)
class StorageInfo:
    """A storage, and what it contains.

    A migration moves the files of one storage to another: it is complete when the first has none.

    Args:
        name: the name in ``[storages.NAME]``.
        backend: the name of the backend; ``None`` if the storage is not configured any more.
        over: the storage that contains its objects, for a wrapper.
        is_target: whether new files are stored here.
        files: the number of files; ``None``: the database did not respond in time.
        size: their size in bytes; ``None`` as above.
        leftovers: objects that will be removed; ``None`` as above.
    """

    name: str
    backend: str | None
    over: str | None
    is_target: bool
    files: int | None
    size: int | None
    leftovers: int | None


@dataclass(frozen=True, slots=True)
class StorageTest:
    """The result of writing, reading and deleting an object.

    Args:
        fault: what failed, as a phrase in English; ``None`` if nothing did.
        milliseconds: how long the storage took.
    """

    fault: str | None
    milliseconds: int


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """A plugin of the installation.

    Args:
        version: the version of its distribution; ``file`` for a plugin of one file.
        api_version: the plugin API that it was written for; ``None`` if it is not enabled, because
            such a plugin is not imported.
        is_builtin: whether it is a part of the server, which is always enabled.
        provides: what it registers: extensions such as ``storage s3``, or else the names of hooks
            without ``register_``.
        file: the path of a plugin of one file.
        options: the keys that configure it and its extensions.
    """

    name: str
    version: str
    api_version: str | None
    is_enabled: bool
    is_builtin: bool
    provides: Sequence[str]
    file: str | None
    options: Sequence[ServerSetting]


@dataclass(frozen=True, slots=True)
class JobInfo:
    """A recurring job. Times are in milliseconds since the Unix epoch.

    Args:
        name: the names of the plugin and of the job, such as ``core.prune``.
        every_seconds: the interval.
        due_at: when the next run may start; ``None`` for a new job.
        failure: the class of the last error, if the last run failed.
    """

    name: str
    every_seconds: int
    status: JobStatus
    due_at: int | None
    started_at: int | None
    succeeded_at: int | None
    failed_at: int | None
    failure: str | None


@dataclass(frozen=True, slots=True)
class LimitInfo:
    """A limit in force.

    Args:
        name: the key in ``[limits]``.
        rates: rates such as ``5/hour``, which all apply, or one number; empty: no limit.
        is_changed: whether it differs from the limit of the profile ``normal``.
        help: what it limits, in English.
    """

    name: str
    rates: Sequence[str]
    is_changed: bool
    help: str


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message to a user, without its text. Times are in milliseconds since the Unix epoch.

    Args:
        channel: ``email`` or ``sms``.
        recipient: the masked address or number.
        sender: the name of the sender; ``None`` while none has accepted it.
    """

    id: str
    template: str
    channel: str
    recipient: str
    status: MessageStatus
    sender: str | None
    created_at: int
    sent_at: int | None


@dataclass(frozen=True, slots=True)
class AuditChain:
    """How far the chain of audit records was verified.

    Args:
        through: the number of the last record that is valid.
        newest: the number of the newest record.
        broken: the number of the first record that was changed or removed; ``None`` if none is known.
        reason: what is wrong with it, in English.
        checked_at: in milliseconds since the Unix epoch.
    """

    through: int
    newest: int
    broken: int | None
    reason: str | None
    checked_at: int

    @property
    def is_complete(self) -> bool:
        """Whether all records were verified, and are valid."""
        return self.broken is None and self.through >= self.newest


class ServerAPI(ABC):
    """The state of the server, as the caller, who must administer it.

    Each method raises ``ApiError``: ``error.token-required`` without a caller, ``error.forbidden`` for
    other users, ``error.impersonation-refused``, and ``error.key-not-accepted`` for access keys.
    """

    @abstractmethod
    def info(self) -> ServerInfo:
        """Return the version and the size of the server. Counts are at most five minutes old."""

    @abstractmethod
    def settings(self) -> Sequence[ServerSetting]:
        """Return each key of the configuration, with its value and origin, as ``config show``."""

    @abstractmethod
    def findings(self, *, since: int | None = None) -> ServerFindings:
        """Return what the doctor finds, as ``strongroom doctor``.

        A part that does not respond within three seconds is reported as failed.

        Args:
            since: examine again if the last examination is older, in milliseconds since the Unix
                epoch; ``None``: if it is older than a minute.
        """

    @abstractmethod
    def storages(self) -> Sequence[StorageInfo]:
        """Return the storages, also those that have files and are not configured any more."""

    @abstractmethod
    def test_storage(self, name: str) -> StorageTest:
        """Write, read and delete an object of a storage.

        Raises:
            ApiError: ``error.not-found``.
        """

    @abstractmethod
    def plugins(self) -> Sequence[PluginInfo]:
        """Return the built-in, enabled and installed plugins."""

    @abstractmethod
    def jobs(self) -> Sequence[JobInfo]:
        """Return the recurring jobs of the core and of plugins."""

    @abstractmethod
    def limits(self) -> Sequence[LimitInfo]:
        """Return the limits in force."""

    @abstractmethod
    def messages(self, *, page: int = 1, size: int = 100, recipient: str = "") -> Sequence[SentMessage]:
        """Return a page of the messages, the newest first; a page that is not full is the last one.

        Args:
            recipient: a part of the address or number. Only the newest 10,000 messages are searched.
        """

    @abstractmethod
    def audit_sentences(self) -> Mapping[str, str]:
        """Return what people read about the records of plugins, in English, by their actions. API 2.0.

        :data:`~strongroom.plugin_api.audit.AUDIT_NAMES` are in braces. Templates translate a sentence
        by ``strongroom.translated``.
        """

    @abstractmethod
    def audit_chain(self) -> AuditChain:
        """Verify the chain of audit records for up to two seconds.

        A later call in the same process continues a verification that was not complete, and begins at
        the first record after one that was.

        Raises:
            ApiError: ``error.unavailable``: other calls in this process verify it.
        """
