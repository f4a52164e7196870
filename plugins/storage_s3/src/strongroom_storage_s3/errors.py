"""Translates botocore's exceptions into the plugin API's."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from strongroom.plugin_api.storage import (
    ObjectNotFound,
    StorageError,
    StorageFull,
    StorageUnavailable,
)

# A HEAD response has no body and thus no error code, so botocore reports the status instead.
NOT_FOUND = frozenset({"NoSuchKey", "NotFound", "404"})

# AWS has no capacity limit; Ceph, MinIO and SeaweedFS return these codes.
FULL = frozenset(
    {"InsufficientStorage", "QuotaExceeded", "XMinioAdminBucketQuotaExceeded", "XMinioStorageFull"}
)

BUSY = frozenset({"RequestTimeout", "SlowDown", "Throttling", "ThrottlingException", "TooManyRequests"})


OPTIONS = {
    "NoSuchBucket": "bucket: does not exist; create it, or correct its name",
    "InvalidAccessKeyId": "access_key_id: is unknown to the store; correct it",
    "SignatureDoesNotMatch": "secret_access_key: does not belong to access_key_id; correct it",
    "AuthorizationHeaderMalformed": "region: is not the region of the bucket; correct it",
    "PermanentRedirect": "region: is not the region of the bucket; correct it",
}
"""The option that is wrong, and how to correct it, by the error code."""


class AnswerLost(StorageUnavailable):
    """The connection ended after the request was sent; the store may have executed it."""


@contextmanager
def translated_errors() -> Iterator[None]:
    """Translate botocore's exceptions into the matching :class:`StorageError`."""
    # Imported here because importing botocore is slow; only processes that use the store need it.
    from botocore import exceptions  # type: ignore[import-untyped]

    try:
        yield
    except exceptions.ClientError as error:
        raise _refusal(error) from error
    except exceptions.ConnectionClosedError as error:
        raise AnswerLost(str(error)) from error
    except (
        exceptions.ConnectionError,
        exceptions.HTTPClientError,
        exceptions.IncompleteReadError,
    ) as error:
        raise StorageUnavailable(str(error)) from error
    except exceptions.BotoCoreError as error:
        raise StorageError(str(error)) from error


def error_code(error: Any) -> str:
    """Return the S3 error code of a ``ClientError``, such as ``NoSuchKey``, or an empty string."""
    return str(error.response.get("Error", {}).get("Code", ""))


def _refusal(error: Any) -> StorageError:
    code = error_code(error)
    metadata = error.response.get("ResponseMetadata", {})
    status = metadata.get("HTTPStatusCode", 0)
    if code in NOT_FOUND:
        return ObjectNotFound(str(error))
    if code in FULL or status == 507:  # noqa: PLR2004  Insufficient Storage
        return StorageFull(str(error))
    if code in BUSY or status == 429 or status >= 500:  # noqa: PLR2004  Too Many Requests
        return _unavailable(str(error), metadata.get("HTTPHeaders", {}))
    return StorageError(f"{OPTIONS[code]} ({code})" if code in OPTIONS else str(error))


def _unavailable(message: str, headers: Mapping[str, Any]) -> StorageUnavailable:
    retry_after = str(headers.get("retry-after", ""))
    if retry_after.isdecimal():
        return StorageUnavailable(message, retry_after=int(retry_after))
    return StorageUnavailable(message)
