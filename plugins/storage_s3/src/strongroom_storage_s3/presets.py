"""What the services that speak S3 differ in."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Preset:
    """A service.

    Args:
        endpoint: the form of its URL, with the fields ``{region}`` and ``{account}``; empty: the
            operator states ``endpoint_url``.
        region: the region if the operator states none; empty: it is required.
        addressing_style: the position of the bucket in URLs.
        write_once: whether every release of it refuses a signed upload with ``If-None-Match: *`` if the
            object exists.
    """

    endpoint: str = ""
    region: str = ""
    addressing_style: str = "virtual"
    write_once: bool = False


PRESETS: Final = {
    # Buckets are named name-appid. It has no If-None-Match, only a header of its own.
    "cos": Preset("https://cos.{region}.myqcloud.com"),
    "obs": Preset("https://obs.{region}.myhuaweicloud.com"),
    "minio": Preset(region="us-east-1", addressing_style="path"),
    "ceph": Preset(region="default", addressing_style="path"),
    "r2": Preset(
        "https://{account}.r2.cloudflarestorage.com",
        region="auto",
        addressing_style="path",
        write_once=True,
    ),
    "b2": Preset("https://s3.{region}.backblazeb2.com"),
}
"""The services by the value of the option ``service``."""
