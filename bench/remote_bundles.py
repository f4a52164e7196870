"""A bundle of many files in S3, compared with reading them with the same concurrency."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from bench.bundles import FILE_BYTES, Sample, bundle_of_new_files
from bench.harness import MEBIBYTE, Limit, Plan, Row, interleave
from bench.servers import strongroom
from bench.stores import BUCKET, boto3_client, stub_s3

IN_FLIGHT: Final = 4
WAIT_MILLISECONDS: Final = 10
LIMIT: Final = f"boto3, {IN_FLIGHT} in flight"

CONFIG: Final = """
[storages.elsewhere]
backend = "s3"
bucket = "{bucket}"
region = "us-east-1"
endpoint_url = "{endpoint}"
access_key_id = "key"
secret_access_key = "secret"
[files]
storage = "elsewhere"
"""


def measure(plan: Plan) -> list[Row]:
    """Measure the speed and the memory of a bundle of files in a remote store."""
    with (
        TemporaryDirectory() as name,
        stub_s3(WAIT_MILLISECONDS) as (endpoint, _),
        strongroom(
            Path(name),
            CONFIG.format(bucket=BUCKET, endpoint=endpoint),
            plugins=("storage_local", "storage_s3"),
        ) as server,
    ):
        bundle = bundle_of_new_files(server, Path(name) / "bundled", plan.bundled)
        client = boto3_client(endpoint)
        ours, others = interleave(plan.rounds, bundle, lambda: _read(client, plan.bundled))
    title = f"bundle, {plan.bundled:,} x {FILE_BYTES // 1024} KiB, S3 {WAIT_MILLISECONDS} ms away"
    return [
        Row(title, "MiB/s", [speed for speed, _ in ours], Limit(LIMIT, [speed for speed, _ in others])),
        Row(f"{title}: memory over idle", "MiB", [risen for _, risen in ours], is_cost=True),
    ]


def _read(client: Any, count: int) -> Sample:
    """Read as many objects, and return how many mebibytes a second that were; it is not weighed."""

    def read(_: int) -> int:
        key = f"zeros-{FILE_BYTES}"
        return len(client.get_object(Bucket=BUCKET, Key=key)["Body"].read())

    started = time.perf_counter()
    with ThreadPoolExecutor(IN_FLIGHT) as pool:
        received = sum(pool.map(read, range(count)))
    return received / MEBIBYTE / (time.perf_counter() - started), 0
