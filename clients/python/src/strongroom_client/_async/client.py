"""The client: login, operations, lists, uploads and downloads."""

import webbrowser
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeAlias, overload

import httpx
import msgspec

from ..api import authorizations, impersonation, managed_users, second_factors
from ..concurrency import AsyncPieces, async_in_thread
from ..device_codes import DEFAULT_SCOPES, DeviceCodes
from ..errors import ApiError, UnauthorizedError
from ..loopback import LoopbackRedirect
from ..models import (
    Impersonation,
    IssuedTokens,
    LoggedInUser,
    Login,
    NewImpersonation,
    Node,
    PasswordLinkRedemption,
    RenewedToken,
    StepUp,
)
from ..operations import Operation, Result_co
from ..retries import Retries
from ..tokens import MemoryTokens, TokenStore
from ..transfers import MemoryUploads, OnConflict, Report, Target, UploadStates
from .accounts import AsyncAccounts, Authenticator
from .browser_login import AsyncBrowserLogin
from .captchas import AsyncCaptchas, Captcha
from .device_login import AsyncDeviceLogin
from .downloads import AsyncDownloader
from .operations import AsyncOperations
from .session import AsyncSession
from .sources import name_of, source_of
from .uploads import AsyncUploader

SecondFactor: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
"""Answers a challenge (`id`, `methods`, `expiresAt`) by `{"totp": "123456"}`, or ``None`` to give up."""

_SECONDS = 60.0
_CAPTCHA = "error.captcha-required"


class AsyncClient(AsyncOperations):
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
        session = AsyncSession(
            connections,
            key=key,
            tokens=MemoryTokens() if tokens is None else tokens,
            retries=retries or Retries(),
        )
        super().__init__(session)
        self._captchas = AsyncCaptchas(session, captcha)
        self.accounts = AsyncAccounts(self, session, self._captchas)
        """The user's own account, and accounts to come."""
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
        self,
        username: str,
        password: str,
        *,
        second_factor: SecondFactor | None = None,
        new_password: str | None = None,
    ) -> LoggedInUser:
        """Log in with a password; afterwards tokens are refreshed automatically.

        Args:
            username: a username, an e-mail address or a mobile number.
            password: the password.
            second_factor: answers the challenge of a second factor. Called again after a wrong answer.
            new_password: replaces a password that must be changed, such as a temporary one.

        Raises:
            InvalidCredentials: the username or the password is wrong.
            PasswordChangeRequired: the password must be changed, and there is no new one.
            SecondFactorRequired: the user has a second factor, and there is no answer.
            CaptchaRequired: a captcha is needed, and the client has no hook for it.
        """
        login = Login(username=username, password=password)
        try:
            issued = await self._tokens_of(login, second_factor)
        except ApiError as error:
            if error.code != "error.password-change-required" or new_password is None:
                raise
            changing = msgspec.structs.replace(login, new_password=new_password)
            issued = await self._tokens_of(changing, second_factor)
        await self._session.log_in(issued)
        return issued.user

    async def log_in_by_browser(
        self, open_url: Callable[[str], object] = webbrowser.open, *, timeout: float = 600.0
    ) -> LoggedInUser:
        """Log in by the login page of the server, in the browser (RFC 8252).

        The page offers all ways to log in, such as passkeys and other platforms.

        Args:
            open_url: opens the page; returns ``False`` if that is impossible.
            timeout: seconds until the user must have logged in.

        Raises:
            BrowserLoginFailed: the server has no login page for programs, there is no browser, or the
                user did not log in within the time.
        """
        with LoopbackRedirect() as redirect:
            issued = await AsyncBrowserLogin(self._session, redirect).run(open_url, timeout)
        await self._session.log_in(issued)
        return issued.user

    async def log_in_by_device(
        self, show: Callable[[DeviceCodes], object], *, scopes: Sequence[str] = DEFAULT_SCOPES
    ) -> None:
        """Log in by a code that the user enters in a browser, on any computer (RFC 8628).

        Args:
            show: shows the user the code, and the page that takes it.
            scopes: what the login may be used for; it opens nothing else.

        Raises:
            DeviceLoginFailed: the server offers no such login, its URLs are neither HTTPS nor of this
                computer, or the user refused or did not enter the code in time.
        """
        await self._session.store_login(await AsyncDeviceLogin(self._session).run(show, scopes))

    async def log_in_by_passkey(self, authenticator: Authenticator) -> LoggedInUser:
        """Log in by a passkey of an authenticator that the program has.

        Args:
            authenticator: returns ``credential.toJSON()`` for the options of the server.

        Raises:
            InvalidCredentials: no user has the passkey, or its signature is wrong.
        """
        proof = await self.accounts.passkey_proof(authenticator)
        issued = await self._exchange(Login(challenge=proof))
        await self._session.log_in(issued)
        return issued.user

    async def redeem_link(self, token: str, new_password: str) -> None:
        """Set a password by the token of an administrator's link, which its URL ends with.

        Raises:
            AccountLinkInvalid: the link is unknown, used or expired.
        """
        body = PasswordLinkRedemption(token=token, new_password=new_password)
        operation = managed_users.redeem_password_link(body=body)
        await self._session.send(operation, is_anonymous=True)

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
        tokens = self._session.login
        if tokens is not None and tokens.grant is not None:
            await self._session.revoke(tokens, tokens.grant)
        else:
            await self.send(authorizations.delete_authorization("current"))
        await self._session.forget_login()

    async def impersonate(
        self, user_id: str, reason: str, *, minutes: int = 15
    ) -> "AsyncImpersonatedClient":
        """Begin to act as a user, for an administrator; the user sees it in the list of logins.

        ``with client.impersonate(user_id, reason) as user:`` ends it with the block.

        Args:
            reason: for the audit log.
            minutes: after which it ends, at most 60; it is never refreshed.

        Raises:
            Forbidden: the user is an administrator or a service account.
            StepUpRequired: a recent proof of the login is needed; see :meth:`step_up`.
            UserSuspended: the user is suspended.
        """
        body = NewImpersonation(reason=reason, minutes=minutes)
        issued = await self.send(impersonation.impersonate_user(user_id, body=body))
        return AsyncImpersonatedClient(self._session.http, issued, self._session.retries)

    async def upload(
        self,
        tenant_id: str,
        content: Path | str | bytes | BinaryIO | AsyncPieces,
        *,
        parent_id: str | None = None,
        name: str | None = None,
        on_conflict: OnConflict = "fail",
        progress: Report | None = None,
    ) -> Node:
        """Upload content of any size; after a broken connection it continues.

        A path of over 1 MiB also continues where an earlier call was interrupted. Content of unknown
        length, such as a pipe or an iterator, is first written to a temporary file.

        Args:
            tenant_id: the tenant.
            content: the path of a file, bytes, a binary file from its position, or pieces of bytes.
            parent_id: the folder; without it, the top level.
            name: by default that of the local file; required without a path.
            on_conflict: what happens if the name is taken.
            progress: called after each piece.

        Raises:
            ApiError: the server refused the file.
            ConnectionFailed: the connection broke too often; another call continues the upload.
            SourceChanged: the local file was changed meanwhile.
            IntegrityError: the stored content differs.
        """
        name = name or name_of(content)
        target = Target(tenant_id, parent_id, name, on_conflict)
        source = await source_of(content)
        try:
            return await self._uploader.upload(source, target, progress or _ignore)
        finally:
            source.close()

    @overload
    async def download(
        self, tenant_id: str, file_id: str, target: Path | str, *, progress: Report | None = None
    ) -> Path: ...

    @overload
    async def download(
        self, tenant_id: str, file_id: str, target: BinaryIO, *, progress: Report | None = None
    ) -> None: ...

    async def download(
        self,
        tenant_id: str,
        file_id: str,
        target: Path | str | BinaryIO,
        *,
        progress: Report | None = None,
    ) -> Path | None:
        """Download a file; after a broken connection it continues.

        A path appears, or is replaced, only when the content is complete and has the right checksum; a
        part next to it is continued by the next call. A binary file is written from its position.

        Args:
            tenant_id: the tenant.
            file_id: the file.
            target: a path, or a binary file that the caller closes.
            progress: called after each piece.

        Raises:
            ApiError: the server refused it.
            ConnectionFailed: the connection broke too often.
            IntegrityError: the content is damaged.
        """
        report = progress or _ignore
        if isinstance(target, str | Path):
            return await self._downloader.download(tenant_id, file_id, Path(target), report)
        async for piece in self._downloader.stream(tenant_id, file_id, report):
            await async_in_thread(target.write, piece)
        return None

    def stream(self, tenant_id: str, file_id: str) -> AsyncIterator[bytes]:
        """Iterate over the content of a file; after a broken connection it continues.

        Raises:
            ApiError: the server refused it.
            ConnectionFailed: the connection broke too often.
            IntegrityError: the content was damaged, which is known only at its end.
        """
        return self._downloader.stream(tenant_id, file_id, _ignore)

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
            captcha = await self._captchas.solve() if error.code == _CAPTCHA else None
            if captcha is None:
                raise
            return await self._send_login(msgspec.structs.replace(login, captcha=captcha))

    async def _send_login(self, login: Login) -> IssuedTokens:
        operation = authorizations.create_authorization(body=login)
        return await self._session.send(operation, is_anonymous=True)


class AsyncImpersonatedClient(AsyncClient):
    """A client that reads as another user, and changes nothing.

    :meth:`AsyncClient.impersonate` makes it. It uses the connections of the administrator's client.

    Args:
        http: the connections, which stay open.
        issued: the access token, and whose it is.
        retries: when a request is sent again.
    """

    def __init__(self, http: httpx.AsyncClient, issued: Impersonation, retries: Retries) -> None:
        super().__init__(str(http.base_url), key=issued.access_token, retries=retries, http=http)
        self.access_token = issued.access_token
        """A secret: it is accepted as an access key is."""
        self.expires_at = issued.expires_at
        self.user = issued.user

    async def end(self) -> None:
        """End the impersonation on the server, unless it has ended already."""
        with suppress(UnauthorizedError):
            await self.log_out()

    async def close(self) -> None:
        """End the impersonation."""
        await self.end()


def _login_by(challenge: Mapping[str, Any]) -> Operation[IssuedTokens]:
    return authorizations.create_authorization(body=Login(challenge=dict(challenge)))


def _step_up_by(challenge: Mapping[str, Any]) -> Operation[RenewedToken]:
    return second_factors.step_up(body=StepUp(challenge=dict(challenge)))


def _ignore(progress: object) -> None:
    """Report no progress."""
