"""The vendor's SDK: how it is connected, and what its errors mean here.

The SDK takes 1.5 s to import and is therefore imported by whoever uses OSS, when they do.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from strongroom.plugin_api.storage import ObjectNotFound, StorageError, StorageUnavailable
from strongroom_storage_oss.options import OssOptions

MOST_CONNECTIONS = 64
LONGEST_BACKOFF = 2.0
RETRY_AFTER = 5

# Of these a 404 tells; any other 404 means that the object is not there. An answer to HEAD may come
# without a code.
NOT_ABOUT_OBJECTS = frozenset({"NoSuchBucket", "NoSuchUpload"})
TRANSIENT_STATUSES = frozenset({408, 429})


class RangeNotSatisfiable(StorageError):
    """The object is there, and ends before the first byte that was asked for."""


class Connection:
    """The SDK, a client of it for one endpoint, and the HTTP connections that holds.

    Args:
        options: the options of the backend.
        endpoint: the URL to talk to; the region's public one if ``None``.
    """

    def __init__(self, options: OssOptions, endpoint: str | None) -> None:
        import alibabacloud_oss_v2 as sdk  # type: ignore[import-untyped]
        from alibabacloud_oss_v2.transport import RequestsHttpClient  # type: ignore[import-untyped]

        self._http = RequestsHttpClient(
            connect_timeout=options.connect_timeout,
            readwrite_timeout=options.timeout,
            max_connections=MOST_CONNECTIONS,
        )
        # Opening at first use, as the SDK does, is a race between threads.
        self._http.open()
        attempts = options.retries + 1
        config = sdk.config.Config(
            region=options.region,
            endpoint=endpoint,
            credentials_provider=sdk.credentials.StaticCredentialsProvider(
                options.access_key_id, options.access_key_secret, options.security_token
            ),
            retryer=sdk.retry.StandardRetryer(max_attempts=attempts, max_backoff=LONGEST_BACKOFF),
            http_client=self._http,
            readwrite_timeout=options.timeout,
            use_path_style=options.addressing == "path",
        )
        self.sdk: Any = sdk
        self.client: Any = sdk.Client(config, signer=_length_signer())

    def close(self) -> None:
        """Close the HTTP connections."""
        self._http.close()


def _length_signer() -> object:
    """Return a signer that also signs ``Content-Length``, where a request states it.

    The SDK has a setting for additional headers, and does not heed it.
    """
    from alibabacloud_oss_v2.signer import SignerV4  # type: ignore[import-untyped]

    class LengthSigner(SignerV4):  # type: ignore[misc]
        def sign(self, signing_ctx: Any) -> None:
            signing_ctx.additional_headers = {"content-length"}
            super().sign(signing_ctx)

    return LengthSigner()


@contextmanager
def translated_errors(key: str) -> Iterator[None]:
    """Turn what the SDK raises, of an operation on ``key``, into a :class:`StorageError`."""
    from alibabacloud_oss_v2 import exceptions
    from requests import RequestException

    try:
        yield
    except exceptions.OperationError as error:
        raise _translate(error.unwrap(), key) from error
    except (exceptions.BaseError, RequestException) as error:
        raise _translate(error, key) from error


def _translate(error: Exception, key: str) -> StorageError:
    from alibabacloud_oss_v2 import exceptions
    from requests import RequestException

    if isinstance(error, exceptions.ServiceError):
        return _translate_answer(error, key)
    if isinstance(error, (exceptions.RequestError, exceptions.ResponseError, RequestException)):
        return StorageUnavailable(f"OSS cannot be reached: {error}")
    return StorageError(f"OSS failed on {key}: {error}")


def _translate_answer(error: Any, key: str) -> StorageError:
    message = f"{error.code}: {error.message} (request {error.request_id})"
    if error.status_code == 404 and error.code not in NOT_ABOUT_OBJECTS:  # noqa: PLR2004
        return ObjectNotFound(key)
    if error.status_code == 416:  # noqa: PLR2004
        return RangeNotSatisfiable(message)
    if error.status_code >= 500 or error.status_code in TRANSIENT_STATUSES:  # noqa: PLR2004
        advice = error.headers.get("Retry-After", "")
        return StorageUnavailable(
            message, retry_after=int(advice) if advice.isdecimal() else RETRY_AFTER
        )
    return StorageError(message)
