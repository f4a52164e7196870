"""Basic authentication (RFC 7617) with an access key as the password, for clients such as WebDAV's."""

import base64
import binascii
from typing import ClassVar

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.authentication import Authenticator, PresentedCredential, RequestHead

API_VERSION = "2.0"


class BasicAuthenticator(Authenticator):
    """Reads the access key from the password of Basic; the user name is ignored.

    The password of an account is never accepted here: browsers and mounts store Basic credentials.
    """

    name: ClassVar = "basic"
    challenge: ClassVar = 'Basic realm="strongroom", charset="UTF-8"'

    def credential(self, request: RequestHead) -> PresentedCredential | None:
        scheme, _, encoded = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return None
        try:
            decoded = base64.b64decode(encoded.strip(), validate=True).decode()
        except (binascii.Error, ValueError):
            return PresentedCredential("")
        return PresentedCredential(decoded.partition(":")[2])


@hookimpl
def register_authenticators() -> list[Authenticator]:
    return [BasicAuthenticator()]
