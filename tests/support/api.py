"""A client of the REST API that speaks to an application in this process."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask
from werkzeug.datastructures import Headers
from werkzeug.test import TestResponse

from strongroom.assembly.app import create_app, get_container
from strongroom.assembly.container import Container
from strongroom.assembly.features import FEATURES
from strongroom.content.storage.service import BlobService
from strongroom.foundation.caller import Origin
from strongroom.foundation.config import load
from strongroom.foundation.database import postgresql
from strongroom.identity.accounts.registration import Registration, RegistrationService
from strongroom.identity.users.models import UserType
from strongroom.identity.verification.captchas import CaptchaService, PageCaptcha
from strongroom.testing.clock import ManualClock
from strongroom.web.feature import Feature
from tests.support.databases import leave_out_the_disk
from tests.support.outbox import messages_in
from tests.support.waiting import PATIENCE_SECONDS

PASSWORD = "Correct1Horse"
_PURPOSES = {"login/code": "login-code", "register": "register", "forgot": "reset-password"}
Json = dict[str, Any]


class Answer:
    """A response of the server."""

    def __init__(self, response: TestResponse) -> None:
        self.status_code: int = response.status_code
        self.headers: Headers = response.headers
        self.data: bytes = response.get_data()
        self.text: str = self.data.decode("utf-8", "replace")
        self.json: Any = response.get_json(silent=True)
        # As a server does, to close the files of the response.
        response.close()


@dataclass
class Person:
    """A user of a test, with an access token if logged in."""

    id: str
    email: str
    token: str | None = None


@dataclass
class Api:
    """Sends requests, and makes what tests need before they begin."""

    app: Flask
    container: Container
    clock: ManualClock
    _people: int = field(default=0)
    _codes: int = field(default=0)

    @classmethod
    @contextmanager
    def running(
        cls,
        config: Path,
        clock: ManualClock | None = None,
        features: tuple[Feature, ...] = FEATURES,
    ) -> Iterator["Api"]:
        """Run an application in this process, with time standing still, until the block ends.

        It never waits for the disk; ``tests/e2e/test_power_loss.py`` tests losses of power.
        """
        clock = clock or ManualClock()
        with pytest.MonkeyPatch.context() as patch:
            leave_out_the_disk(patch)
            # A database that is slow on a busy machine does not hang.
            patch.setattr(postgresql, "SUSPICIOUS_SECONDS", PATIENCE_SECONDS)
            app = create_app(load(config, {}), clock, features=features)
            container = get_container(app)
            yield cls(app, container, clock)
            container.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        by: Person | None = None,
        headers: dict[str, str] | None = None,
        **options: Any,
    ) -> Answer:
        """Send a request, with the person's token."""
        sent = dict(headers or {})
        if by is not None and by.token is not None:
            sent["Authorization"] = f"Bearer {by.token}"
        return Answer(self.app.test_client().open(path, method=method, headers=sent, **options))

    def get(self, path: str, **options: Any) -> Answer:
        return self.request("GET", path, **options)

    def post(self, path: str, json: Json | None = None, **options: Any) -> Answer:
        return self.request("POST", path, json=json, **options)

    def put(self, path: str, json: Json | None = None, **options: Any) -> Answer:
        return self.request("PUT", path, json=json, **options)

    def patch(self, path: str, json: Json | None = None, **options: Any) -> Answer:
        return self.request("PATCH", path, json=json, **options)

    def delete(self, path: str, **options: Any) -> Answer:
        return self.request("DELETE", path, **options)

    def log_in(self, username: str, password: str | None = PASSWORD, **body: Any) -> Answer:
        """Try to log in."""
        if password is not None:
            body["password"] = password
        return self.post("/authorizations", {"username": username, **body})

    def captcha(self) -> Json:
        """Return a captcha with its answer."""
        return {"id": self.post("/captchas", {}).json["id"], "answer": "42"}

    def page_captcha(self, path: str) -> Json:
        """Return the captcha of a form of the login pages with its answer."""
        captchas = self.container.get(CaptchaService)
        purpose = f"login_pages/{_PURPOSES[path]}"
        issued = captchas.issue(PageCaptcha(captchas.page_provider, purpose))
        return {"id": issued.id, "answer": "42"}

    def request_code(self, recipient: str, purpose: str, **options: Any) -> Answer:
        """Try to have a code sent."""
        body = {"recipient": recipient, "purpose": purpose, "captcha": self.captcha()}
        return self.post("/verification-codes", body, **options)

    def code(self, recipient: str, purpose: str, device: str | None = None) -> Json:
        """Have a code sent, and read it out of the message."""
        # Each has its own device and address, so that no limit applies to other requests.
        self._codes += 1
        options = {
            "headers": {"X-Device-Id": device or f"device-{self._codes}"},
            "environ_overrides": {"REMOTE_ADDR": f"192.0.2.{self._codes}"},
        }
        response = self.request_code(recipient, purpose, **options)
        assert response.status_code == 201, response.text
        return {"id": response.json["id"], "code": self.outbox()[-1]["code"]}

    def outbox(self) -> list[Json]:
        """Return every message sent so far."""
        return messages_in(self.container.settings.server.data_dir)

    def stored_objects(self) -> int:
        """Return how many objects the storage contains."""
        return len(list(self.container.get(BlobService).storages["main"].scan()))

    def person(self, *, admin: bool = False, name: str = "Somebody", **identifiers: Any) -> Person:
        """Make a user and log in."""
        self._people += 1
        email = identifiers.pop("email", f"person{self._people}@example.com")
        kind = UserType.ADMIN if admin else UserType.USER
        registration = Registration(name=name, password=PASSWORD, email=email, kind=kind, **identifiers)
        user = self.container.get(RegistrationService).create(registration, Origin())
        response = self.log_in(email)
        assert response.status_code == 200, response.text
        return Person(user.id, email, response.headers["X-Access-Token"])

    def imported(self, described: Json, email: str) -> str:
        """Make a user with a password hash of another system; return the id."""
        registration = Registration(name="", password="", email=email, described_hash=described)
        return self.container.get(RegistrationService).create(registration, Origin()).id

    def tenant(self, by: Person, name: str = "Acme") -> str:
        """Make a tenant and return its path."""
        response = self.post("/api/v1/tenants", {"name": name}, by=by)
        assert response.status_code == 201, response.text
        return f"/api/v1/tenants/{response.json['id']}"

    def join(self, tenant: str, admin: Person, member: Person, role: str = "member") -> None:
        """Make a person a member of a tenant."""
        response = self.put(f"{tenant}/members/{member.id}", {"role": role}, by=admin)
        assert response.status_code == 200, response.text

    def folder(self, tenant: str, by: Person, name: str, parent: str | None = None) -> Json:
        """Make a folder and return it."""
        path = f"{tenant}/files/{parent}/folders" if parent else f"{tenant}/folders"
        response = self.post(path, {"name": name}, by=by)
        assert response.status_code == 201, response.text
        node: Json = response.json
        return node

    def upload(
        self, tenant: str, by: Person, name: str, content: bytes, parent: str | None = None
    ) -> Json:
        """Upload a file and return it."""
        response = self.send(tenant, by, name, content, parent)
        assert response.status_code == 201, response.text
        node: Json = response.json
        return node

    def send(
        self,
        tenant: str,
        by: Person,
        name: str,
        content: bytes,
        parent: str | None = None,
        query: str = "",
    ) -> Answer:
        """Try to upload a file as the raw body."""
        path = f"{tenant}/files/{parent}/files" if parent else f"{tenant}/files"
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
            "Content-Type": "application/octet-stream",
        }
        return self.request("POST", path + query, by=by, headers=headers, data=content)


def upload_metadata(**values: str) -> str:
    """Return the header ``Upload-Metadata`` of a resumable upload."""
    return ",".join(f"{key} {base64.b64encode(text.encode()).decode()}" for key, text in values.items())


def creation_headers(length: int, **metadata: str) -> dict[str, str]:
    """Return the headers of a request that creates a resumable upload of some bytes."""
    return {
        "Tus-Resumable": "1.0.0",
        "Upload-Length": str(length),
        "Upload-Metadata": upload_metadata(**metadata),
    }


def error_code(response: Answer) -> str:
    """Return the stable code of an error answer."""
    code: str = response.json["error"]["code"]
    return code


def claims_of(token: str | None) -> Json:
    """Return the claims of an access token, unverified."""
    claims: Json = json.loads(base64.urlsafe_b64decode(str(token).split(".")[1] + "=="))
    return claims


def token_id(token: str | None) -> str:
    """Return the id of an access token."""
    return str(claims_of(token)["jti"])
