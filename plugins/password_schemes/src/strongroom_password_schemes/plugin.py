"""The entry point of the plugin."""

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.password_schemes import PasswordScheme
from strongroom_password_schemes.auth0 import Auth0
from strongroom_password_schemes.firebase import Firebase
from strongroom_password_schemes.keycloak import Keycloak
from strongroom_password_schemes.standard import Argon2, Bcrypt, Django, Pbkdf2, Phpass, WordPress

API_VERSION = "2.0"


@hookimpl
def register_password_schemes() -> list[type[PasswordScheme]]:
    return [Argon2, Auth0, Bcrypt, Django, Firebase, Keycloak, Pbkdf2, Phpass, WordPress]
