"""Logins by a code that the user enters in a browser on any computer (RFC 8628)."""

from collections.abc import Callable, Sequence
from http import HTTPStatus
from time import monotonic
from typing import Final

from ..concurrency import AsyncSleep, async_in_thread, async_sleep
from ..device_codes import (
    DeviceCodes,
    ServerMetadata,
    codes_operation,
    discovery_operation,
    is_secure,
    poll_operation,
)
from ..errors import ApiError, ConnectionFailed, DeviceLoginFailed
from ..tokens import Grant, Tokens
from .session import AsyncSession

_SLOWER_SECONDS: Final = 5
_PENDING: Final = "authorization_pending"
_SLOW_DOWN: Final = "slow_down"
_REASONS: Final = {
    "access_denied": "the user refused the login",
    "expired_token": "nobody allowed the login in time",
}


class AsyncDeviceLogin:
    """Requests a code, and asks for the tokens until the user has allowed the login.

    Args:
        session: sends the requests.
        sleep: waits for some seconds.
        clock: returns the seconds since any moment.
    """

    def __init__(
        self,
        session: AsyncSession,
        sleep: AsyncSleep = async_sleep,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._session = session
        self._sleep = sleep
        self._clock = clock

    async def run(self, show: Callable[[DeviceCodes], object], scopes: Sequence[str]) -> Tokens:
        """Return the tokens of the login.

        Raises:
            DeviceLoginFailed: see :meth:`Client.log_in_by_device`.
        """
        _require_secure(self._session.url)
        metadata = await self._discover()
        _require_secure(*metadata.urls)
        operation = codes_operation(metadata, scopes)
        codes = await self._session.send(operation, is_anonymous=True)
        _require_secure(codes.verification_uri)
        await async_in_thread(show, codes)
        client_id = metadata.strongroom_device_client or ""
        grant = Grant(client_id, metadata.token_endpoint, metadata.revocation_endpoint)
        return await self._wait(grant, codes)

    async def _discover(self) -> ServerMetadata:
        try:
            metadata = await self._session.send(discovery_operation(), is_anonymous=True)
        except ApiError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            raise DeviceLoginFailed(
                "the server offers no login by a code: its operator has to enable the plugin "
                "oidc_provider"
            ) from error
        if not metadata.strongroom_device_client:
            raise DeviceLoginFailed(
                "the server offers no login by a code: its operator has to set device_client of the "
                "plugin oidc_provider"
            )
        return metadata

    async def _wait(self, grant: Grant, codes: DeviceCodes) -> Tokens:
        end, pause = self._clock() + codes.expires_in, max(codes.interval, 1)
        while self._clock() + pause < end:
            await self._sleep(pause)
            try:
                issued = await self._session.send(poll_operation(grant, codes), is_anonymous=True)
                return issued.of_grant(grant)
            except ConnectionFailed:
                # RFC 8628, section 3.5.
                pause *= 2
            except ApiError as error:
                pause += _slower(error)
        raise DeviceLoginFailed(_REASONS["expired_token"])


def _slower(error: ApiError) -> int:
    """Return by how many seconds the server wants fewer requests.

    Raises:
        DeviceLoginFailed: the login has failed.
    """
    if error.code in _REASONS:
        raise DeviceLoginFailed(_REASONS[error.code]) from error
    if error.code not in (_PENDING, _SLOW_DOWN):
        raise error
    return _SLOWER_SECONDS if error.code == _SLOW_DOWN else 0


def _require_secure(*urls: str) -> None:
    """Require that URLs are of HTTPS or of this computer.

    Raises:
        DeviceLoginFailed: one is not.
    """
    for url in urls:
        if not is_secure(url):
            raise DeviceLoginFailed(f"{url} is neither HTTPS nor on this computer")
