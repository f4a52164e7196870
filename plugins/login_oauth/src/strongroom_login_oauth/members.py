"""People who have left their organisation: their logins end within five minutes."""

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.jobs import Job, JobRun
from strongroom.plugin_api.login import Credential
from strongroom.plugin_api.logins import LiveCredential
from strongroom_login_oauth.errors import ProviderError
from strongroom_login_oauth.method import OAuthLogin
from strongroom_login_oauth.options import LOG_OUT
from strongroom_login_oauth.provider import Provider

logger = logging.getLogger(__name__)

EVERY: Final = timedelta(minutes=1)
"""The interval of the job, which continues where the run before has stopped."""

ROUND: Final = 180_000
"""Milliseconds between the beginnings of two rounds through all credentials."""

RUN: Final = 45_000
"""Milliseconds after which a run stops, because a server runs one job at a time."""

THREADS: Final = 16
PAGE: Final = 200
_REASON: Final = "Has left the organisation"


class MembersUnknown(Exception):
    """The platform could not be asked about some people. Nothing has ended for them."""


@dataclass(slots=True)
class _Round:
    """The progress of a round, shared by all nodes.

    Args:
        began: milliseconds since the Unix epoch.
        kind: the index of the kind of credentials.
        after: the last checked value.
        is_over: whether all credentials were checked.
    """

    began: int = 0
    kind: int = 0
    after: str = ""
    is_over: bool = True

    def members(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("began", "kind", "after", "is_over")}


@dataclass(slots=True)
class _Result:
    checked: int = 0
    left: list[LiveCredential] = field(default_factory=list)
    failures: list[ProviderError] = field(default_factory=list)


def member_jobs(host: HostAPI, kind: type[OAuthLogin[Any]]) -> list[Job]:
    """Return the check for people who have left, for the hook ``register_jobs``.

    None if the method is disabled, or none of its providers overrides ``is_member``.
    """
    login = host.extension(kind)
    if login is None:
        return []
    providers = [item for item in login.providers.values() if _can_tell(item)]
    if not providers:
        return []
    check = MemberCheck(host, login, providers)
    return [Job(f"{login.name}_members", every=EVERY, run=check.run)]


def _can_tell(provider: Provider) -> bool:
    return type(provider).is_member is not Provider.is_member


class MemberCheck:
    """Asks the platform about each person with a login or an access key, longest unchecked first.

    A platform that is unavailable ends nothing: the run fails, which the log and ``strongroom doctor``
    report, and the check is repeated in the next run.

    Args:
        providers: the providers of the method whose ``is_member`` is implemented.
    """

    def __init__(self, host: HostAPI, login: OAuthLogin[Any], providers: Sequence[Provider]) -> None:
        self._host = host
        self._login = login
        self._providers = providers
        self._key = f"members.{login.name}"

    def run(self, run: JobRun) -> None:
        """Check the people who are due, until the time of a run is over.

        Raises:
            MembersUnknown: the platform did not answer about some people.
        """
        progress = _Round(**(self._host.values.get(self._key) or {}))
        now = self._host.clock.now()
        if progress.is_over:
            if now - progress.began < ROUND:
                return
            progress = _Round(began=now, is_over=False)
        failures: list[ProviderError] = []
        with ThreadPoolExecutor(THREADS, thread_name_prefix="members") as pool:
            for page in self._pages(progress, run, now + RUN):
                result = self._check(page, pool)
                self._end(result.left)
                failures += result.failures
                if len(result.failures) == len(page):
                    # The platform is down: this page is the first one of the next run.
                    break
                progress.after = page[-1].credential.value
        self._save(progress, has_failures=bool(failures))
        if failures:
            raise MembersUnknown(f"{self._login.platform} did not answer about people: {failures[0]}")

    def _pages(self, progress: _Round, run: JobRun, ends: int) -> Iterator[Sequence[LiveCredential]]:
        kinds = self._login.kinds
        while not progress.is_over and not run.should_stop and self._host.clock.now() < ends:
            kind = kinds[progress.kind]
            page = self._host.logins.credentials(kind, after=progress.after, size=PAGE)
            if page:
                yield page
            elif progress.kind + 1 < len(kinds):
                progress.kind, progress.after = progress.kind + 1, ""
            else:
                progress.is_over = True

    def _check(self, page: Sequence[LiveCredential], pool: ThreadPoolExecutor) -> _Result:
        result = _Result()
        for live, answer in zip(page, pool.map(self._is_member, page), strict=True):
            if isinstance(answer, ProviderError):
                result.failures.append(answer)
            elif answer is False:
                result.left.append(live)
        return result

    def _is_member(self, live: LiveCredential) -> bool | ProviderError | None:
        """Return whether one of the providers has the person as a member."""
        answers = [self._ask(provider, live.credential) for provider in self._providers]
        if any(answer is True for answer in answers):
            return True
        failure = next((answer for answer in answers if isinstance(answer, ProviderError)), None)
        if failure is not None:
            return failure
        return False if any(answer is False for answer in answers) else None

    def _ask(self, provider: Provider, credential: Credential) -> bool | ProviderError | None:
        try:
            return provider.is_member(credential)
        except ProviderError as error:
            return error
        except Exception as error:
            # One answer that a provider cannot read must not keep the others from being checked.
            logger.exception("The check of a member of %s failed", self._login.platform)
            return ProviderError(type(error).__name__)

    def _end(self, left: Sequence[LiveCredential]) -> None:
        logins, logs_out = self._host.logins, self._login.options.on_leave == LOG_OUT
        for live in left:
            if logs_out:
                has_ended = bool(logins.end(live.credential))
            else:
                has_ended = logins.suspend(live.credential, reason=_REASON)
            if has_ended:
                logger.info("The logins of user %s ended: %s", live.user_id, _REASON)

    def _save(self, progress: _Round, *, has_failures: bool) -> None:
        if has_failures and progress.is_over:
            # The next run begins a new round, without a pause.
            progress.began = 0
        self._host.values.put(self._key, progress.members())
