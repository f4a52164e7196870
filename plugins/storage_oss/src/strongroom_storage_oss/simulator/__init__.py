"""A server that speaks the OSS protocol on this machine, for tests and development.

It checks what the service checks (V4 signatures in headers and in URLs, their age, the region, the
digests and sizes of bodies, the rules of multipart uploads) and answers errors as the service does.
Objects live in a temporary folder and are gone when it stops::

    with OssSimulator(buckets=["files"]) as simulator:
        options = OssOptions(bucket="files", endpoint=simulator.endpoint, ...)
"""

from strongroom_storage_oss.simulator.log import LoggedRequest
from strongroom_storage_oss.simulator.server import OssSimulator
from strongroom_storage_oss.simulator.signature import Account

__all__ = ["Account", "LoggedRequest", "OssSimulator"]
