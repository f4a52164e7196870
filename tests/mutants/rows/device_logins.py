"""Mutants: logins of the command by a code."""

from typing import Final

from tests.mutants.modules import client, oidc_provider

ROWS: Final = (
    client(
        "device-login-file-mode",
        "Only their owner reads the stored tokens.",
        "tokens.py::FileTokens.save",
        "write_durably(self._path, msgspec.json.encode(tokens))",
        "self._path.write_bytes(msgspec.json.encode(tokens))",
        "clients/python/tests/test_device_login.py::test_the_command_logs_in_and_out_by_a_code",
    ),
    client(
        "device-login-secure-page",
        "The page that takes the code is of HTTPS or of this computer.",
        "_sync/device_login.py::DeviceLogin.run",
        "_require_secure(codes.verification_uri)",
        "pass",
        "clients/python/tests/test_device_login.py::test_an_insecure_page_is_not_shown",
    ),
    client(
        "device-login-secure-endpoints",
        "The endpoints that get the codes and the tokens are of HTTPS or of this computer.",
        "_sync/device_login.py::DeviceLogin.run",
        "_require_secure(*metadata.urls)",
        "pass",
        "clients/python/tests/test_device_login.py::test_an_insecure_endpoint_gets_nothing",
    ),
    client(
        "device-login-slow-down",
        "A login by a code asks less often when the server wants it.",
        "_sync/device_login.py::_slower",
        "_SLOWER_SECONDS if error.code == _SLOW_DOWN else 0",
        "0",
        "clients/python/tests/test_device_login.py::test_each_slow_down_adds_five_seconds",
    ),
    client(
        "device-login-end",
        "A login by a code ends with the code.",
        "_sync/device_login.py::DeviceLogin._wait",
        "self._clock() + pause < end",
        "self._clock() < end + 3600",
        "clients/python/tests/test_device_login.py::test_the_polls_end_with_the_code",
    ),
    client(
        "device-login-revocation",
        "A logout ends a login by a code on the server.",
        "_sync/client.py::Client.log_out",
        "self._session.revoke(tokens, tokens.grant)",
        "pass",
        "clients/python/tests/test_device_login.py::test_a_logout_revokes_the_grant",
    ),
    oidc_provider(
        "provider-device-client-scopes",
        "The built-in client of the command impersonates nobody.",
        "device_client.py",
        "if scope != Scope.USERS_IMPERSONATE",
        "if scope",
        "oidc_provider/rest/test_device_client.py::test_the_client_impersonates_nobody",
    ),
    oidc_provider(
        "provider-device-client-ids",
        "The built-in client has no id of a registered one.",
        "options.py::ProviderOptions.__post_init__",
        "not _CLIENT.fullmatch(self.device_client)",
        "False",
        "oidc_provider/rest/test_device_client.py::test_an_id_of_another_client_is_refused",
    ),
)
