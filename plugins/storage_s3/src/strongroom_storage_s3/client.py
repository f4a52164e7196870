"""The boto3 client, the only untyped object of this package.

boto3 is imported in the functions that use it, because importing it takes most of a second, which
processes that never use the store should not pay.
"""

from collections.abc import Mapping
from threading import Lock
from typing import Any

from strongroom_storage_s3.connections import use_timed_connections
from strongroom_storage_s3.errors import translated_errors
from strongroom_storage_s3.options import MEBIBYTE, S3Options

COPIED_PART_BYTES = 64 * MEBIBYTE


class LazyClient:
    """Creates the process's boto3 client on first use. Thread-safe.

    The client is not created earlier because its connections must not be shared with the processes
    that a server forks after it has read its configuration.

    Args:
        options: the backend's options.
        endpoint_url: the store's URL; ``None`` for AWS.
    """

    def __init__(self, options: S3Options, endpoint_url: str | None) -> None:
        self._options = options
        self._endpoint_url = endpoint_url
        self._lock = Lock()
        self._client: Any = None

    def get(self) -> Any:
        """Return the client.

        Raises:
            StorageError: boto3 rejects the options or the credentials.
        """
        with self._lock:
            if self._client is None:
                with translated_errors():
                    self._client = _make_client(self._options, self._endpoint_url)
            return self._client

    def close(self) -> None:
        """Close the connections; the next :meth:`get` creates another client."""
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None


def _make_client(options: S3Options, endpoint_url: str | None) -> Any:
    from boto3.session import Session  # type: ignore[import-untyped]  # it has no types
    from botocore.config import Config  # type: ignore[import-untyped]  # likewise

    config = Config(
        signature_version="s3v4",
        s3={"addressing_style": options.style},
        connect_timeout=options.connect_timeout,
        read_timeout=options.read_timeout,
        retries={"mode": "standard", "total_max_attempts": options.max_attempts},
        max_pool_connections=options.max_connections,
        # botocore's default adds trailing checksums (aws-chunked), which other stores reject.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    client = Session(region_name=options.effective_region).client(
        "s3",
        endpoint_url=endpoint_url,
        config=config,
        # The client rejects a key without its secret; the session would sign with incomplete keys.
        aws_access_key_id=options.access_key_id,
        aws_secret_access_key=options.secret_access_key,
        aws_session_token=options.session_token,
    )
    # Registered first, so that it runs before botocore decides whether to retry.
    client.meta.events.register_first("needs-retry.s3", _do_not_retry_timeouts)
    use_timed_connections(client)
    return client


def _do_not_retry_timeouts(caught_exception: Exception | None = None, **_: Any) -> None:
    """Raise a time-out instead of retrying, because the caller has already waited that long."""
    from botocore import exceptions  # type: ignore[import-untyped]  # it has no types

    if isinstance(caught_exception, (exceptions.ReadTimeoutError, exceptions.ConnectTimeoutError)):
        raise caught_exception


def copy_in_parts(client: Any, source: Mapping[str, str], target: Mapping[str, str]) -> None:
    """Copy an object that is too large for one request; ``Bucket`` and ``Key`` name each end."""
    from boto3.s3.transfer import TransferConfig  # type: ignore[import-untyped]  # it has no types

    in_parts = TransferConfig(multipart_threshold=1, multipart_chunksize=COPIED_PART_BYTES)
    client.copy(source, **target, Config=in_parts)
