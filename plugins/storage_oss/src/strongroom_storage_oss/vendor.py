"""The vendor's SDK: how it is connected, and what its errors mean here.

It takes 1.5 s to import and is not typed: it is imported by whoever makes a connection, as ``Any``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http import HTTPStatus
from importlib import import_module
from typing import Any

from strongroom.plugin_api.answers import TimedResponse
from strongroom.plugin_api.storage import ObjectNotFound, StorageError, StorageUnavailable
from strongroom_storage_oss.options import OssOptions

MOST_CONNECTIONS = 64
LONGEST_BACKOFF = 2.0
RETRY_AFTER = 5

# Any other 404 means that the object is not there. An answer to HEAD may come without its code.
NOT_ABOUT_OBJECTS = frozenset({"NoSuchBucket", "NoSuchUpload"})
TRANSIENT = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})


class RangeNotSatisfiable(StorageError):
    """The object is there, and ends before the first byte that was asked for."""


class Connection:
    """The SDK, a client of it for one endpoint, and the HTTP connections that holds.

    Args:
        options: the options of the backend.
        endpoint: the URL to talk to; the region's public one if ``None``.
    """

    def __init__(self, options: OssOptions, endpoint: str | None) -> None:
        self.sdk: Any = load_sdk()
        self._http = _http_client(self.sdk, options)
        # Opening at first use, as the SDK does, is a race between threads.
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
    """Return an HTTP client that dates every answer.

    An error without a date, as proxies give it, is no error to the SDK but a fault of its own.
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
    """Return an adapter of requests, the SDK's HTTP library, that gives up answers which trickle."""
    # Both come with the SDK, and are imported as late.
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

    # The SDK tries again by itself, and no redirect of a store is followed.
    adapter = HTTPAdapter(
        max_retries=Retry(total=False, redirect=False, raise_on_status=False),
        pool_maxsize=MOST_CONNECTIONS,
        pool_connections=MOST_CONNECTIONS,
    )
    pools = {"http": TimedHTTPConnectionPool, "https": TimedHTTPSConnectionPool}
    adapter.poolmanager.pool_classes_by_scheme = pools
    return adapter


def _length_signer(sdk: Any) -> object:
    """Return a signer that also signs ``Content-Length``, where a request states it.

    The SDK has a setting for additional headers, and does not heed it.
    """

    class LengthSigner(sdk.signer.SignerV4):  # type: ignore[misc]
        def sign(self, signing_ctx: Any) -> None:
            signing_ctx.additional_headers = {"content-length"}
            super().sign(signing_ctx)

    return LengthSigner()


@contextmanager
def translated_errors(key: str) -> Iterator[None]:
    """Turn what the SDK raises, of an operation on ``key``, into a :class:`StorageError`."""
    errors = load_sdk().exceptions
    try:
        yield
    except errors.OperationError as error:
        raise _translate(error.unwrap(), key) from error
    # Reading a body raises the HTTP library's errors, all of which are an OSError.
    except (errors.BaseError, OSError) as error:
        raise _translate(error, key) from error


def _translate(error: Any, key: str) -> StorageError:
    errors = load_sdk().exceptions
    if isinstance(error, errors.ServiceError):
        return _translate_answer(error, key)
    if isinstance(error, (errors.RequestError, errors.ResponseError, OSError)):
        return StorageUnavailable(f"OSS cannot be reached: {error}")
    return StorageError(f"OSS failed on {key}: {error}")


def _translate_answer(error: Any, key: str) -> StorageError:
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
