"""A simulator a test, backends that talk to it, and requests that are signed by hand."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree as ET

import pytest

from strongroom_simulators.oss import OssSimulator
from strongroom_storage_oss.backend import OssBackend
from strongroom_storage_oss.options import OssOptions
from strongroom_storage_oss.vendor import load_sdk

MakeBackend = Callable[..., OssBackend]


class Clock:
    """A clock that stands still until a test changes it."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC).replace(microsecond=0)

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True)
class Answer:
    """A response of the simulator."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def xml(self) -> ET.Element:
        return ET.fromstring(self.body)

    @property
    def code(self) -> str:
        return self.xml.findtext("Code", "")


@dataclass
class SignedByHand:
    """A request to the bucket ``files``, signed by the vendor's signer with the given claims."""

    method: str
    key: str = ""
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    bucket: str = "files"
    secret: str = "simulator-secret"
    access_key_id: str = "simulator"
    region: str = "cn-hangzhou"
    security_token: str | None = None
    additional_headers: frozenset[str] = frozenset()
    moment: datetime = field(default_factory=lambda: datetime.now(UTC))

    def sign(self, endpoint: str) -> tuple[str, dict[str, str]]:
        """Return the target and the headers to send."""
        sdk = load_sdk()
        path = f"/{self.bucket}/{quote(self.key)}" + (f"?{self.query}" if self.query else "")
        request = sdk.HttpRequest(self.method, endpoint + path, headers=self.headers)
        context = sdk.SigningContext(
            product="oss",
            region=self.region,
            bucket=self.bucket,
            key=self.key,
            request=request,
            credentials=sdk.Credentials(self.access_key_id, self.secret, self.security_token),
            signing_time=self.moment,
            additional_headers=set(self.additional_headers),
        )
        sdk.signer.SignerV4().sign(context)
        return path, dict(request.headers.items())


Send = Callable[..., Answer]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def simulator() -> Iterator[OssSimulator]:
    with OssSimulator(["files"]) as server:
        yield server


@pytest.fixture
def exchange(simulator: OssSimulator) -> Send:
    """Return a function that sends a request as it is."""

    def exchange(method: str, target: str, headers: Mapping[str, str], body: Any = None) -> Answer:
        connection = HTTPConnection(urlsplit(simulator.endpoint).netloc, timeout=10)
        try:
            connection.request(method, target, body, headers)
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    return exchange


@pytest.fixture
def sign_by_hand() -> type[SignedByHand]:
    return SignedByHand


@pytest.fixture
def send(simulator: OssSimulator, exchange: Send) -> Send:
    """Return a function that signs and sends; ``tampered`` headers replace signed ones."""

    def send(
        method: str, key: str = "", tampered: Mapping[str, str] | None = None, **fields: Any
    ) -> Answer:
        request = SignedByHand(method, key, **fields)
        target, headers = request.sign(simulator.endpoint)
        return exchange(method, target, {**headers, **(tampered or {})}, request.body)

    return send


@pytest.fixture
def options(simulator: OssSimulator) -> OssOptions:
    return OssOptions(
        bucket="files",
        region=simulator.region,
        access_key_id=simulator.account.access_key_id,
        access_key_secret=simulator.account.access_key_secret,
        endpoint=simulator.endpoint,
        retries=0,
    )


@pytest.fixture
def make_backend(options: OssOptions) -> Iterator[MakeBackend]:
    made: list[OssBackend] = []

    def make(**changes: Any) -> OssBackend:
        made.append(OssBackend(replace(options, **changes)))
        return made[-1]

    yield make
    for backend in made:
        backend.close()


@pytest.fixture
def backend(make_backend: MakeBackend) -> OssBackend:
    return make_backend()
