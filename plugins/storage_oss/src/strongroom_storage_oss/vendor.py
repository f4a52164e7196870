"""Connects the vendor's SDK and translates its errors.

The SDK takes 1.5 s to import and is untyped, so it is imported on the first connection, as ``Any``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http import HTTPStatus
from importlib import import_module
from typing import Any

from strongroom.plugin_api.http_timeouts import TimedResponse
from strongroom.plugin_api.storage import ObjectNotFound, StorageError, StorageUnavailable
from strongroom_storage_oss.options import OssOptions

MOST_CONNECTIONS = 64
LONGEST_BACKOFF = 2.0
RETRY_AFTER = 5

# Any other 404 means that the object does not exist; a response to HEAD may have no error code.
NOT_ABOUT_OBJECTS = frozenset({"NoSuchBucket", "NoSuchUpload"})
TRANSIENT = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})


class RangeNotSatisfiable(StorageError):
    """The object exists, but ends before the first requested byte."""


class Connection:
    """The SDK, its client for one endpoint, and the client's HTTP connections.

    Args:
        endpoint: the URL of the endpoint; ``None`` for the region's public one.
    """

    def __init__(self, options: OssOptions, endpoint: str | None) -> None:
        self.sdk: Any = load_sdk()
        self._http = _http_client(self.sdk, options)
        # Opened here because the SDK opens it on first use, which is a race between threads.
        self._http.open()
        config = self.sdk.config.Config(
            region=options.region,
            endpoint=endpoint,
            credentials_provider=self.sdk.credentials.StaticCredentialsProvider(
                options.access_key_id, options.access_key_secret, options.security_token
            ),
            retryer=self.sdk.retry.StandardRetryer(options.retries + 1, max_backoff=LONGEST_BACKOFF),
            http_client=self._http,
            readwrite_timeout=options.timeout,
            use_path_style=options.addressing == "path",
        )
        self.client: Any = self.sdk.Client(config, signer=_length_signer(self.sdk))

    def close(self) -> None:
        """Close the HTTP connections."""
        self._http.close()


def load_sdk() -> Any:
    """Import the SDK."""
    return import_module("alibabacloud_oss_v2")


def _http_client(sdk: Any, options: OssOptions) -> Any:
    """Return an HTTP client that adds a ``Date`` header to responses without one.

    The SDK fails with an internal error on an error response without a date, as proxies send it.
    """

    class DatingHttpClient(sdk.transport.RequestsHttpClient):  # type: ignore[misc]
        def send(self, request: Any, **limits: Any) -> Any:
            response = super().send(request, **limits)
            response.headers.setdefault("Date", formatdate(usegmt=True))
            return response

    return DatingHttpClient(
        connect_timeout=options.connect_timeout,
        readwrite_timeout=options.timeout,
        adapter=_timed_adapter(),
    )


def _timed_adapter() -> Any:
    """Return an adapter for requests, the SDK's HTTP library, that aborts slow responses."""
    # Dependencies of the SDK, imported as late as the SDK itself.
    from requests.adapters import HTTPAdapter
    from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, Retry
    from urllib3.connection import HTTPConnection, HTTPSConnection

    class TimedHTTPConnection(HTTPConnection):
        response_class = TimedResponse

    class TimedHTTPSConnection(HTTPSConnection):
        response_class = TimedResponse

    class TimedHTTPConnectionPool(HTTPConnectionPool):
        ConnectionCls = TimedHTTPConnection

    class TimedHTTPSConnectionPool(HTTPSConnectionPool):
        ConnectionCls = TimedHTTPSConnection

    # The SDK has its own retries, and redirects from the store are not followed.
    adapter = HTTPAdapter(
        max_retries=Retry(total=False, redirect=False, raise_on_status=False),
        pool_maxsize=MOST_CONNECTIONS,
        pool_connections=MOST_CONNECTIONS,
    )
    pools = {"http": TimedHTTPConnectionPool, "https": TimedHTTPSConnectionPool}
    adapter.poolmanager.pool_classes_by_scheme = pools
    return adapter


def _length_signer(sdk: Any) -> object:
    """Return a signer that also signs ``Content-Length`` if the request has one.

    The SDK has a setting for additional headers but ignores it.
    """

    class LengthSigner(sdk.signer.SignerV4):  # type: ignore[misc]
        def sign(self, signing_ctx: Any) -> None:
            signing_ctx.additional_headers = {"content-length"}
            super().sign(signing_ctx)

    return LengthSigner()


@contextmanager
def translated_errors(key: str) -> Iterator[None]:
    """Translate the SDK's exceptions into a :class:`StorageError` for ``key``."""
    errors = load_sdk().exceptions
    try:
        yield
    except errors.OperationError as error:
        raise _translate(error.unwrap(), key) from error
    # Reading a body raises exceptions of the HTTP library, which are subclasses of OSError.
    except (errors.BaseError, OSError) as error:
        raise _translate(error, key) from error


def _translate(error: Any, key: str) -> StorageError:
    errors = load_sdk().exceptions
    if isinstance(error, errors.ServiceError):
        return _translate_response(error, key)
    if isinstance(error, (errors.RequestError, errors.ResponseError, OSError)):
        return StorageUnavailable(f"OSS cannot be reached: {error}")
    return StorageError(f"OSS failed on {key}: {error}")


def _translate_response(error: Any, key: str) -> StorageError:
    status, message = error.status_code, f"{error.code}: {error.message} (request {error.request_id})"
    if status == HTTPStatus.NOT_FOUND and error.code not in NOT_ABOUT_OBJECTS:
        return ObjectNotFound(key)
    if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        return RangeNotSatisfiable(message)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in TRANSIENT:
        advice = error.headers.get("Retry-After", "")
        retry_after = int(advice) if advice.isdecimal() else RETRY_AFTER
        return StorageUnavailable(message, retry_after=retry_after)
    return StorageError(message)
