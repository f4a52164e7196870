"""A local server with the OSS protocol, for tests and development.

It performs the checks of the service (V4 signatures in headers and in URLs, their age, the region, the
digests and sizes of bodies, the rules of multipart uploads) and returns the errors of the service.
Objects are in a temporary folder, which is removed when the server stops::

    with OssSimulator(buckets=["files"]) as simulator:
        options = OssOptions(bucket="files", endpoint=simulator.endpoint, ...)
"""

from strongroom_simulators.oss.log import LoggedRequest
from strongroom_simulators.oss.server import OssSimulator
from strongroom_simulators.oss.signature import Account

__all__ = ["Account", "LoggedRequest", "OssSimulator"]
