"""Configuration options."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from strongroom.plugin_api import option

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class S3Options:
    """The keys of a section ``[storages.NAME]`` with ``backend = "s3"``."""

    bucket: str = option(help="The bucket; it must exist.")
    prefix: str = option("", help="The folder of the bucket, a prefix of all object names.")
    region: str | None = option(
        None, help="The region of the bucket; default: from the environment or the AWS profile."
    )
    endpoint_url: str | None = option(
        None, help="The URL at which the server reaches the store; default: AWS."
    )
    public_endpoint_url: str | None = option(
        None, help="The URL at which clients reach the store, for signed URLs; default: `endpoint_url`."
    )
    addressing_style: str = option(
        "auto",
        choices=("auto", "path", "virtual"),
        help="Position of the bucket in URLs: in the path, in the host name, or chosen by boto3.",
    )
    access_key_id: str | None = option(None, help="The access key; default: boto3's credential chain.")
    secret_access_key: str | None = option(None, secret=True, help="The secret of `access_key_id`.")
    session_token: str | None = option(
        None, secret=True, help="The session token of temporary credentials."
    )
    part_bytes: int = option(
        8 * MEBIBYTE,
        minimum=5 * MEBIBYTE,
        maximum=5 * 1024 * MEBIBYTE,
        help="Part size in bytes; larger objects are sent as multipart uploads.",
    )
    parts_in_flight: int = option(
        2,
        minimum=1,
        maximum=64,
        help="Parts of one upload sent concurrently; one more is held in memory.",
    )
    connect_timeout: float = option(3.0, minimum=0.1, help="Connection timeout in seconds.")
    read_timeout: float = option(
        30.0,
        minimum=0.1,
        help="Read timeout in seconds; a request that times out is not retried.",
    )
    max_attempts: int = option(3, minimum=1, help="Maximum attempts per request, including the first.")
    max_connections: int = option(64, minimum=1, help="Connections that a process keeps open for reuse.")
    write_once: bool = option(
        True,
        help="Whether signed uploads carry `If-None-Match: *`, so that they cannot replace an object;"
        " set to false for stores that do not support it.",
    )

    def __post_init__(self) -> None:
        for key in ("endpoint_url", "public_endpoint_url"):
            url = getattr(self, key)
            if url is not None and not _is_url(url):
                raise ValueError(f'{key}: must be a URL, such as "https://s3.example.com"')


def _is_url(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.hostname)
