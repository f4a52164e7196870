"""Configuration options."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from strongroom.plugin_api import option
from strongroom_storage_s3.presets import PRESETS, Preset

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class S3Options:
    """The keys of a section ``[storages.NAME]`` with ``backend = "s3"``."""

    bucket: str = option(help="The bucket; it must exist.")
    service: str | None = option(
        None,
        choices=tuple(PRESETS),
        help="The service, which settles `endpoint_url`, `region`, `addressing_style` and `write_once`"
        " where they are not set; default: AWS.",
    )
    account: str | None = option(None, help="The account id, part of the URL of the service r2.")
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
    addressing_style: str | None = option(
        None,
        choices=("auto", "path", "virtual"),
        help="Position of the bucket in URLs: in the path, in the host name, or chosen by boto3; "
        "default: `service`'s position, or auto.",
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
    write_once: bool | None = option(
        None,
        help="Whether signed uploads carry `If-None-Match: *`, so that they cannot replace an object;"
        " set to false for stores that do not support it; default: `service`'s value, or true.",
    )

    object_lock_mode: str | None = option(
        None,
        choices=("governance", "compliance"),
        help="Lock each new object for `object_lock_days`; the bucket must have Object Lock enabled. In "
        "`compliance` mode, not even the account of the bucket can remove it sooner.",
    )
    object_lock_days: int = option(
        0,
        minimum=0,
        maximum=36_500,
        help="Days for which a new object is locked, with `object_lock_mode`.",
    )

    def __post_init__(self) -> None:
        if not _BUCKET.fullmatch(self.bucket):
            raise ValueError('bucket: must consist of letters, digits, ".", "_" and "-"')

        for key, other in (_KEY_PAIR, _KEY_PAIR[::-1]):
            if getattr(self, key) and not getattr(self, other):
                raise ValueError(f"{other}: must be set together with {key}")
        if (self.object_lock_mode is not None) != (self.object_lock_days > 0):
            raise ValueError("object_lock_days: needs object_lock_mode, and the other way round")
        for key in ("endpoint_url", "public_endpoint_url"):
            url = getattr(self, key)
            if url is not None and not _is_url(url):
                raise ValueError(f'{key}: must be a URL, such as "https://s3.example.com"')
        if self.service is not None:
            _require_place(self, PRESETS[self.service])

    @property
    def endpoint(self) -> str | None:
        """The URL at which the server reaches the store; ``None``: AWS."""
        if self.endpoint_url is not None or self.service is None:
            return self.endpoint_url
        form = PRESETS[self.service].endpoint
        return form.format(region=self.effective_region, account=self.account)

    @property
    def effective_region(self) -> str | None:
        """The region, or the service's."""
        return self.region or (PRESETS[self.service].region or None if self.service else None)

    @property
    def style(self) -> str:
        """The position of the bucket in URLs."""
        return self.addressing_style or (
            PRESETS[self.service].addressing_style if self.service else "auto"
        )

    @property
    def refuses_replacing(self) -> bool:
        """Whether signed uploads carry ``If-None-Match: *``."""
        if self.write_once is not None:
            return self.write_once
        return PRESETS[self.service].write_once if self.service else True


_KEY_PAIR: Final = ("access_key_id", "secret_access_key")
# As boto3 checks it: also the ARN of an access point.
_BUCKET: Final = re.compile(r"[A-Za-z0-9._-]{1,255}|arn:[\w+=,.@:/-]+")


def _require_place(options: S3Options, preset: Preset) -> None:
    """Refuse options from which the service's URL does not follow."""
    if options.endpoint_url is None and not preset.endpoint:
        raise ValueError(f"endpoint_url: {options.service} needs the URL of your server")
    if not (options.region or preset.region):
        raise ValueError(f"region: {options.service} needs the region of the bucket")
    if options.endpoint_url is None and "{account}" in preset.endpoint and not options.account:
        raise ValueError(f"account: {options.service} needs the account id")


def _is_url(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.hostname)
