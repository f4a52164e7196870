"""People and apps of the platform."""

import hashlib
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey


@dataclass(frozen=True, slots=True)
class Person:
    """A person with an account.

    Args:
        id: the person's name in calls of the simulator.
    """

    id: str
    nick_name: str
    avatar: str = ""

    @property
    def user_id(self) -> str:
        """The id in all apps: 16 digits that begin with 2088."""
        number = int(hashlib.sha256(self.id.encode()).hexdigest(), 16)
        return f"2088{number % 10**12:012}"


@dataclass(slots=True)
class PlatformApp:
    """A registered app.

    Args:
        public_key: verifies the app's requests.
        redirect_uris: the registered redirect URIs, which are compared exactly.
        has_open_ids: whether people have an ``open_id``, as in new apps, or their ``user_id``.
        has_member_information: whether the app may use ``alipay.user.info.share``.
        cert_sn: the number of the app's certificate; ``None`` in the mode of public keys.
    """

    app_id: str
    public_key: RSAPublicKey = field(repr=False)
    redirect_uris: tuple[str, ...]
    has_open_ids: bool = True
    has_member_information: bool = True
    cert_sn: str | None = None

    def person_id(self, person: Person) -> dict[str, str]:
        """Return the member with the person's id."""
        if not self.has_open_ids:
            return {"user_id": person.user_id}
        digest = hashlib.sha256(f"{self.app_id}/{person.id}".encode()).hexdigest()
        return {"open_id": f"0{digest[:47]}"}
