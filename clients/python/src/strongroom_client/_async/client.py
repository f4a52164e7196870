"""The client: login, operations, lists, uploads and downloads."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias
from urllib.parse import parse_qsl, urlsplit

import httpx
import msgspec

from ..api import authorizations, second_factors, verification
from ..concurrency import async_in_thread
from ..errors import ApiError
from ..files import Source
from ..models import (
    CaptchaAnswer,
    CaptchaRequest,
    IssuedTokens,
    LoggedInUser,
    Login,
    Node,
    RenewedToken,
    StepUp,
)
from ..operations import Item_co, Operation, Page, Result_co
from ..retries import Retries
from ..tokens import MemoryTokens, TokenStore
from ..transfers import MemoryUploads, OnConflict, Report, Target, UploadStates
from .downloads import AsyncDownloader
from .session import AsyncSession
from .uploads import AsyncUploader

Captcha: TypeAlias = Callable[[Mapping[str, Any]], str]
"""Shows a captcha, as `POST /captchas` returns it, and returns the user's answer."""

SecondFactor: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
"""Answers a challenge (`id`, `methods`, `expiresAt`) by `{"totp": "123456"}`, or ``None`` to give up."""

_SECONDS = 60.0


class AsyncClient:
    """A client of one server with the login of one user.

    Tasks and threads may share it. Hooks are called in a worker thread, so they may wait for the user.

    Args:
        url: the root URL of the server.
        key: an access key, `srk_...`, instead of a login.
        tokens: where the tokens of the login are stored; by default in memory.
        uploads: remembers unfinished uploads; by default in memory.
        captcha: solves a captcha, if a login needs one.
        retries: when a request is sent again.
        http: connections with other options than the default; closed with the client.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        tokens: TokenStore | None = None,
        uploads: UploadStates | None = None,
        captcha: Captcha | None = None,
        retries: Retries | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        connections = http or httpx.AsyncClient(timeout=_SECONDS)
        connections.base_url = httpx.URL(url)
        connections.headers.setdefault("User-Agent", "strongroom-client")
        self._captcha = captcha
        self._session = AsyncSession(
            connections,
            key=key,
            tokens=MemoryTokens() if tokens is None else tokens,
            retries=retries or Retries(),
        )
        self._uploader = AsyncUploader(self._session, MemoryUploads() if uploads is None else uploads)
        self._downloader = AsyncDownloader(self._session)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections; the login remains."""
        await self._session.close()

    async def log_in(
        self, username: str, password: str, *, second_factor: SecondFactor | None = None
    ) -> LoggedInUser:
        """Log in with a password; afterwards tokens are refreshed automatically.

        Args:
            username: a username, an e-mail address or a mobile number.
            password: the password.
            second_factor: answers the challenge of a second factor. Called again after a wrong answer.

        Raises:
            InvalidCredentials: the username or the password is wrong.
            SecondFactorRequired: the user has a second factor, and there is no answer.
            CaptchaRequired: a captcha is needed, and the client has no hook for it.
        """
        issued = await self._tokens_of(Login(username=username, password=password), second_factor)
        await self._session.log_in(issued)
        return issued.user

    async def step_up(
        self, *, password: str | None = None, second_factor: SecondFactor | None = None
    ) -> None:
        """Prove the login again, after `error.step-up-required`.

        Args:
            password: the password, of a user without a second factor.
            second_factor: answers the challenge, for a user with one.

        Raises:
            ApiError: the proof is wrong or missing.
        """
        try:
            operation = second_factors.step_up(body=StepUp(current_password=password))
            renewed = await self.send(operation)
        except ApiError as error:
            renewed = await self._met(error, second_factor, _step_up_by)
        await self._session.renew(renewed)

    async def log_out(self) -> None:
        """End the login on the server, and remove its tokens."""
        await self.send(authorizations.delete_authorization("current"))
        await self._session.forget_login()

    async def send(self, operation: Operation[Result_co]) -> Result_co:
        """Send an operation of ``strongroom_client.api`` and return its result.

        Raises:
            ApiError: the server refused it.
            ConnectionFailed: there was no response.
        """
        return await self._session.send(operation)

    async def iterate(self, operation: Operation[Page[Item_co]]) -> AsyncIterator[Item_co]:
        """Iterate over all records of a list, page by page.

        Records that are created or removed meanwhile may be repeated or left out.

        Args:
            operation: returns the first page.
        """
        following: Operation[Page[Item_co]] | None = operation
        while following is not None:
            page = await self.send(following)
            for item in page.data:
                yield item
            following = _next(following, page.meta.next_page_link)

    async def upload(
        self,
        tenant_id: str,
        path: Path | str,
        *,
        parent_id: str | None = None,
        name: str | None = None,
        on_conflict: OnConflict = "fail",
        progress: Report | None = None,
    ) -> Node:
        """Upload a file; a file over 1 MiB continues where an earlier call was interrupted.

        Args:
            tenant_id: the tenant.
            path: the local file.
            parent_id: the folder; without it, the top level.
            name: by default that of the local file.
            on_conflict: what happens if the name is taken.
            progress: called after each piece.

        Raises:
            ApiError: the server refused the file.
            ConnectionFailed: the connection broke too often; another call continues the upload.
            SourceChanged: the local file was changed meanwhile.
            IntegrityError: the stored content differs.
        """
        source = Source.of(Path(path))
        target = Target(tenant_id, parent_id, name or source.path.name, on_conflict)
        return await self._uploader.upload(source, target, progress or _ignore)

    async def download(
        self, tenant_id: str, file_id: str, path: Path | str, *, progress: Report | None = None
    ) -> Path:
        """Download a file; a part next to ``path`` is continued by the next call.

        ``path`` appears, or is replaced, only when the content is complete and has the right checksum.

        Raises:
            ApiError: the server refused it.
            ConnectionFailed: the connection broke too often; another call continues the download.
            IntegrityError: the content is damaged.
        """
        return await self._downloader.download(tenant_id, file_id, Path(path), progress or _ignore)

    async def _tokens_of(self, login: Login, second_factor: SecondFactor | None) -> IssuedTokens:
        try:
            return await self._exchange(login)
        except ApiError as error:
            return await self._met(error, second_factor, _login_by, is_anonymous=True)

    async def _met(
        self,
        demand: ApiError,
        second_factor: SecondFactor | None,
        answering: Callable[[Mapping[str, Any]], Operation[Result_co]],
        *,
        is_anonymous: bool = False,
    ) -> Result_co:
        """Answer the challenge of a second factor until an answer is right."""
        if demand.code != "error.second-factor-required" or second_factor is None:
            raise demand
        while True:
            answer = await async_in_thread(second_factor, demand.challenge)
            if answer is None:
                raise demand
            operation = answering({"id": demand.challenge["id"], **answer})
            try:
                return await self._session.send(operation, is_anonymous=is_anonymous)
            except ApiError as error:
                if error.code != "error.invalid-credentials":
                    raise

    async def _exchange(self, login: Login) -> IssuedTokens:
        try:
            return await self._send_login(login)
        except ApiError as error:
            if error.code != "error.captcha-required" or self._captcha is None:
                raise
            captcha = await self._solved(self._captcha)
            return await self._send_login(msgspec.structs.replace(login, captcha=captcha))

    async def _send_login(self, login: Login) -> IssuedTokens:
        operation = authorizations.create_authorization(body=login)
        return await self._session.send(operation, is_anonymous=True)

    async def _solved(self, captcha: Captcha) -> CaptchaAnswer:
        operation = verification.create_captcha(body=CaptchaRequest())
        issued = await self._session.send(operation, is_anonymous=True)
        return CaptchaAnswer(id=issued["id"], answer=await async_in_thread(captcha, issued))


def _next(operation: Operation[Page[Item_co]], link: str | None) -> Operation[Page[Item_co]] | None:
    """Return the operation for the next page.

    Only the query of the link is taken, because this client may reach the server by another URL than its
    public one.
    """
    if link is None:
        return None
    return replace(operation, query=dict(parse_qsl(urlsplit(link).query)))


def _login_by(challenge: Mapping[str, Any]) -> Operation[IssuedTokens]:
    return authorizations.create_authorization(body=Login(challenge=dict(challenge)))


def _step_up_by(challenge: Mapping[str, Any]) -> Operation[RenewedToken]:
    return second_factors.step_up(body=StepUp(challenge=dict(challenge)))


def _ignore(progress: object) -> None:
    """Report no progress."""
