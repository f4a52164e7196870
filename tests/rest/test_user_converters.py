"""Exports of other systems are converted, imported, and their users log in."""

import csv
import io
import json
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import select
from tests.support.api import Api
from tests.support.databases import on_sqlite
from tests.support.imports import IMPORTED_PASSWORD, SIX_SCHEMES, errors_of, import_users

from strongroom.cli.user_imports import convert_users
from strongroom.extensions.user_imports.converters import CONVERTERS
from strongroom.identity.users.models import second_factors, user_metadata, users

BCRYPT, _, WORDPRESS, DJANGO, KEYCLOAK, _ = SIX_SCHEMES
FIREBASE_CONFIG = {
    "signerKey": "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8"
    "pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
    "saltSeparator": "Bw==",
    "rounds": 8,
    "memCost": 14,
}

pytestmark = pytest.mark.config(
    {"plugins": {"enabled": ["storage_local", "password_schemes", "factor_totp"]}}
)


def table(*rows: dict[str, str]) -> str:
    """Return rows as CSV with a header."""
    output = io.StringIO()
    writer = csv.DictWriter(output, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return output.getvalue()


ANNA = {"email": "anna@example.com"}
EXPORTS: dict[str, tuple[str, str]] = {
    "auth0": (
        "auth0",
        json.dumps(
            {
                "_id": {"$oid": "60425dc43519d90068f82973"},
                "email_verified": False,
                "email": "anna@example.com",
                "passwordHash": BCRYPT["hash"],
                "password_set_date": {"$date": "2021-03-05T16:34:44.502Z"},
                "tenant": "dev",
                "connection": "Username-Password-Authentication",
                "_tmp_is_unique": True,
            }
        ),
    ),
    "keycloak": (
        "keycloak",
        json.dumps(
            {
                "realm": "shop",
                "users": [
                    {
                        "id": "8f2c",
                        "createdTimestamp": 1700000000000,
                        "username": "anna",
                        "enabled": True,
                        "totp": False,
                        "emailVerified": True,
                        "firstName": "Anna",
                        "lastName": "Berg",
                        "email": "anna@example.com",
                        "attributes": {"locale": ["de"]},
                        "credentials": [
                            {
                                "type": "password",
                                "secretData": KEYCLOAK["secretData"],
                                "credentialData": KEYCLOAK["credentialData"],
                            }
                        ],
                    }
                ],
            }
        ),
    ),
    "supabase": (
        "supabase",
        table(
            {
                "id": "6f",
                "email": "anna@example.com",
                "encrypted_password": BCRYPT["hash"],
                "email_confirmed_at": "2024-01-01 10:00:00.123456+00",
                "phone": "",
                "phone_confirmed_at": "",
                "raw_user_meta_data": '{"theme": "dark"}',
                "raw_app_meta_data": "{}",
                "banned_until": "",
                "created_at": "2024-01-01 09:00:00+00",
                "deleted_at": "",
            }
        ),
    ),
    "django dumpdata": (
        "django",
        json.dumps(
            [
                {"model": "auth.permission", "pk": 1, "fields": {"name": "Can add"}},
                {
                    "model": "auth.user",
                    "pk": 7,
                    "fields": {
                        "password": DJANGO["hash"],
                        "last_login": None,
                        "is_superuser": False,
                        "username": "anna",
                        "first_name": "Anna",
                        "last_name": "",
                        "email": "anna@example.com",
                        "is_active": True,
                        "date_joined": "2020-02-03T04:05:06.789Z",
                    },
                },
            ]
        ),
    ),
    "django CSV": (
        "django",
        table({"id": "7", "password": DJANGO["hash"], "email": "anna@example.com", "is_active": "t"}),
    ),
    "wordpress": (
        "wordpress",
        json.dumps(
            [
                {
                    "ID": 3,
                    "user_login": "anna",
                    "user_email": "anna@example.com",
                    "display_name": "Anna",
                    "user_registered": "2020-02-03 04:05:06",
                    "user_pass": WORDPRESS["hash"],
                }
            ]
        ),
    ),
}


@on_sqlite
@pytest.mark.parametrize("case", EXPORTS)
def test_users_of_an_export_are_imported_and_log_in(api: Api, case: str) -> None:
    source, export = EXPORTS[case]
    lines = list(CONVERTERS[source](io.StringIO(export), {}))
    job = import_users(api.container, lines)
    assert (job.created, job.failed) == (1, 0), errors_of(api.container, job)
    assert lines[0]["externalId"]
    assert api.log_in("anna@example.com", IMPORTED_PASSWORD).status_code == 200


@on_sqlite
def test_users_of_firebase_log_in_with_the_parameters_of_the_project(api: Api) -> None:
    # The sample of Firebase's own scrypt utility; its hash as the Admin SDK exports it.
    hashed = "lSrfV15cpx95_sZS2W9c9Kp6i_LVgQNDNC_qzrCnh1SAyZvqmZqAjTdn3aoItz-VHjoZilo78198JAdRuid5lQ=="
    user: dict[str, Any] = {
        "localId": "f1",
        "email": "anna@example.com",
        "emailVerified": True,
        "passwordHash": hashed,
        "salt": "42xEC-ixf3L2lw==",
        "displayName": "Anna",
        "phoneNumber": "+8613800000000",
        "disabled": False,
        "createdAt": "1700000000000",
        "customAttributes": '{"plan": "pro"}',
        "providerUserInfo": [],
    }
    banned = {"localId": "f2", "email": "ben@example.com", "disabled": True}
    export = io.StringIO(json.dumps({"users": [user, banned]}))
    job = import_users(api.container, CONVERTERS["firebase"](export, FIREBASE_CONFIG))
    assert (job.created, job.failed) == (2, 0), errors_of(api.container, job)
    assert api.log_in("+8613800000000", "user1password").status_code == 200
    with api.container.database.read() as connection:
        (stored,) = connection.execute(select(user_metadata)).all()
        statuses = connection.execute(select(users.c.external_id, users.c.status)).all()
    assert stored.server_metadata == {"plan": "pro"}
    assert {tuple(row) for row in statuses} == {("f1", "active"), ("f2", "suspended")}


@on_sqlite
def test_authenticator_apps_of_keycloak_come_along(api: Api) -> None:
    data = {"subType": "totp", "digits": 6, "period": 30, "algorithm": "HmacSHA1", "counter": 0}
    otp = {
        "type": "otp",
        "secretData": json.dumps({"value": "aSecretOfTwentyBytes"}),
        "credentialData": json.dumps(data),
    }
    export = json.dumps({"users": [{"username": "anna", "credentials": [otp]}]})
    job = import_users(api.container, CONVERTERS["keycloak"](io.StringIO(export), {}))
    assert (job.created, job.failed) == (1, 0), errors_of(api.container, job)
    with api.container.database.read() as connection:
        assert len(connection.execute(select(second_factors)).all()) == 1


def test_accounts_without_a_password_have_none() -> None:
    rows = [{"username": "anna", "password": "!unusable", "is_active": "f"}]
    (line,) = CONVERTERS["django"](io.StringIO(table(*rows)), {})
    assert line == {"username": "anna", "status": "suspended"}


@pytest.mark.parametrize("source", CONVERTERS)
def test_a_file_of_another_kind_is_refused_without_a_traceback(source: str) -> None:
    result = CliRunner().invoke(convert_users, ["--from", source, "-"], input='["a", 7]')
    if source != "supabase":
        assert (result.exit_code, "cannot be converted" in result.output) == (1, True), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_the_command_names_each_converter() -> None:
    (choice,) = [item.type for item in convert_users.params if item.name == "source"]
    assert list(getattr(choice, "choices", ())) == list(CONVERTERS)
