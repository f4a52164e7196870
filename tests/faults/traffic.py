"""Mixed requests at a steady rate, as many users send them."""

import hashlib
import json
import os
import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from tests.faults.clients import Answer, Caller, Json
from tests.faults.ledger import Breach, File, Ledger

PASSWORD: Final = "Correct1Horse"
THREADS: Final = 120
"""Enough for the requests that wait during a fault."""


@dataclass
class User:
    """A user with a space."""

    id: str
    email: str
    caller: Caller
    tenant: str
    feed_cursor: int = 0
    feed_lock: threading.Lock = field(default_factory=threading.Lock)
    refresh_token: str = ""
    refresh_lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class Traffic:
    """Users, and what they do.

    Args:
        url: the load balancer.
        outbox: the file with the messages that were sent.
        per_second: how many operations begin in a second.
    """

    url: str
    ledger: Ledger
    users: list[User]
    outbox: Path
    per_second: int
    _stop: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Send requests until the block ends."""
        threads = [threading.Thread(target=self._work, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()
            self._stop.clear()

    def _work(self, number: int) -> None:
        chosen = random.Random(number)
        deeds, weights = zip(*_DEEDS, strict=True)
        period = THREADS / self.per_second
        due = time.monotonic() + period * number / THREADS
        while not self._stop.wait(max(0.0, due - time.monotonic())):
            # A client that was kept waiting does not catch up.
            due = max(due + period, time.monotonic())
            deed: Callable[[Traffic, User, random.Random], None]
            (deed,) = chosen.choices(deeds, weights)
            try:
                deed(self, chosen.choice(self.users), chosen)
            except Exception as error:  # an answer that no client understands
                self.ledger.violate(Breach.OTHER, f"{deed.__name__}: {error!r}")

    def some_file(self, user: User, chosen: random.Random) -> File | None:
        """Return a file of a user that is acknowledged."""
        files = self.ledger.files
        for _ in range(20):
            if files and (file := chosen.choice(files)).is_acknowledged and file.tenant == user.tenant:
                return file
        return None

    def upload(self, user: User, chosen: random.Random) -> None:
        """Upload a file, and sometimes repeat the request after its answer."""
        content = os.urandom(chosen.randrange(100, 4000))
        name = f"{uuid.uuid4().hex}.bin"
        file = File(user.tenant, {name}, hashlib.sha256(content).hexdigest(), len(content))
        self.ledger.files.append(file)
        headers = {
            "Content-Type": "application/octet-stream",
            "Content-Disposition": f'attachment; filename="{name}"',
            "Idempotency-Key": f'"{uuid.uuid4()}"',
        }
        path = f"{user.tenant}/files"
        answer = user.caller.insist("upload", "POST", path, content, headers)
        if answer.is_success:
            file.id = answer.json()["id"]
            if chosen.random() < 0.2:
                again = user.caller.send("repeat", "POST", path, content, headers)
                if again.is_success and again.json()["id"] != file.id:
                    self.ledger.violate(Breach.DOUBLED, f"{name} was stored twice by one key")

    def download(self, user: User, chosen: random.Random) -> None:
        """Download a file and compare its bytes."""
        if file := self.some_file(user, chosen):
            path = f"{user.tenant}/files/{file.id}/download"
            answer = user.caller.send("download", "GET", path)
            if answer.is_success and hashlib.sha256(answer.content).hexdigest() != file.digest:
                self.ledger.violate(Breach.LOST, f"{file.id} has other bytes")
            elif answer.status == 404:
                self.ledger.violate(Breach.LOST, f"{file.id} was acknowledged and is not found")

    def list(self, user: User, chosen: random.Random) -> None:
        """List files."""
        user.caller.send("list", "GET", f"{user.tenant}/owners/me/files?pageSize=20")

    def rename(self, user: User, chosen: random.Random) -> None:
        """Rename a file."""
        if file := self.some_file(user, chosen):
            name = f"{uuid.uuid4().hex}-renamed.bin"
            file.names.add(name)
            user.caller.send("rename", "PATCH", f"{user.tenant}/files/{file.id}", {"name": name})

    def grant(self, user: User, chosen: random.Random) -> None:
        """Grant another user a permission."""
        file, other = self.some_file(user, chosen), chosen.choice(self.users)
        if file and other is not user:
            body = {"ownerId": other.id, "permission": "read"}
            path = f"{user.tenant}/files/{file.id}/owners"
            answer = user.caller.insist("grant", "POST", path, body)
            if answer.is_success:
                file.grants[other.id] = True

    def share(self, user: User, chosen: random.Random) -> None:
        """Create the only share of a file."""
        file = self.some_file(user, chosen)
        if file is None or not self._claim(file):
            return
        path = f"{user.tenant}/files/{file.id}/shares"
        answer = user.caller.insist("share", "POST", path, {"kind": "read"})
        file.shares = answer.is_success

    def _claim(self, file: File) -> bool:
        with self.ledger.lock:
            is_free = file.shares is None
            file.shares = file.shares or False
        return is_free

    def log_in(self, user: User, chosen: random.Random) -> None:
        """Log in by password."""
        body = {"username": user.email, "password": PASSWORD}
        user.caller.send("login", "POST", "/authorizations", body)

    def register(self, user: User, chosen: random.Random) -> None:
        """Register by a code of an e-mail, and use the code twice at once."""
        email = f"person-{uuid.uuid4().hex}@example.com"
        proof = self._code(email, "register")
        if proof is None:
            return
        body = {"name": "Person", "email": email, "password": PASSWORD, "verificationCodes": [proof]}
        answer = self._anonymous.send("register", "POST", "/users", body)
        self.ledger.registered[email] = answer.is_success
        if answer.is_success:
            login = {"username": email, "verificationCode": proof}
            if self._anonymous.send("reuse", "POST", "/authorizations", login).is_success:
                self.ledger.violate(Breach.DOUBLED, f"the code of {email} was used twice")

    def log_in_by_code(self, user: User, chosen: random.Random) -> None:
        """Log in by a code, from two tabs at the same time."""
        if proof := self._code(user.email, "login"):
            body = {"username": user.email, "verificationCode": proof}
            answers: list[Answer] = []

            def submit() -> None:
                answers.append(self._anonymous.send("code", "POST", "/authorizations", body))

            other = threading.Thread(target=submit)
            other.start()
            submit()
            other.join()
            if sum(answer.is_success for answer in answers) > 1:
                self.ledger.violate(Breach.DOUBLED, f"a code of {user.email} logged in twice")

    def _code(self, email: str, purpose: str) -> Json | None:
        captcha = self._anonymous.send("captcha", "POST", "/captchas", {})
        if not captcha.is_success:
            return None
        solved = {"id": captcha.json()["id"], "answer": "42"}
        body = {"recipient": email, "purpose": purpose, "captcha": solved}
        device = {"X-Device-Id": uuid.uuid4().hex}
        answer = self._anonymous.send("send", "POST", "/verification-codes", body, device)
        if not answer.is_success:
            return None
        code = self._message_to(email)
        return {"id": answer.json()["id"], "code": code} if code else None

    def _message_to(self, email: str) -> str | None:
        for _ in range(20):
            for line in reversed(self.outbox.read_text().splitlines()[-400:]):
                with suppress(ValueError):
                    if (message := json.loads(line))["recipient"] == email:
                        return str(message["code"])
            time.sleep(0.1)
        return None

    def refresh(self, user: User, chosen: random.Random) -> None:
        """Exchange a refresh token, and repeat that once if its outcome is unknown."""
        if not user.refresh_lock.acquire(blocking=False):
            return
        try:
            self._refresh(user)
        finally:
            user.refresh_lock.release()

    def _refresh(self, user: User) -> None:
        if not (former := user.refresh_token):
            self._begin_session(user, is_lost=False)
            return
        for _ in range(2):
            body: Json = {"refreshToken": former}
            answer = self._anonymous.send("refresh", "POST", "/authorizations/refresh", body)
            if not answer.is_unknown:
                break
        if answer.is_success:
            user.refresh_token = answer.json()["refreshToken"]
            self.ledger.used_refresh_tokens.append((time.monotonic(), former))
        else:
            self._begin_session(user, is_lost=answer.status in (400, 401))

    def _begin_session(self, user: User, *, is_lost: bool) -> None:
        """Log in again after a loss; the outcome of the exchange is unknown if the server was away."""
        body = {"username": user.email, "password": PASSWORD}
        if is_lost:
            self.ledger.lost_sessions.append(time.monotonic())
        answer = self._anonymous.send("login", "POST", "/authorizations", body)
        if answer.is_success:
            user.refresh_token = answer.json()["refreshToken"]

    def follow(self, user: User, chosen: random.Random) -> None:
        """Read the feed from where the last reading ended."""
        if not user.feed_lock.acquire(blocking=False):
            return
        try:
            path = f"{user.tenant}/changes?pageSize=200&cursor={user.feed_cursor}"
            answer = user.caller.send("feed", "GET", path)
            if answer.is_success:
                page = answer.json()
                self.ledger.feeds[user.tenant] += [item["sequence"] for item in page["data"]]
                user.feed_cursor = page["meta"]["cursor"]
        finally:
            user.feed_lock.release()

    @property
    def _anonymous(self) -> Caller:
        return Caller(self.url, self.ledger)


_DEEDS: Final = (
    (Traffic.upload, 24),
    (Traffic.download, 18),
    (Traffic.list, 14),
    (Traffic.rename, 8),
    (Traffic.grant, 6),
    (Traffic.share, 4),
    (Traffic.log_in, 6),
    (Traffic.register, 3),
    (Traffic.log_in_by_code, 2),
    (Traffic.refresh, 7),
    (Traffic.follow, 8),
)


def enrol(url: str, ledger: Ledger, admin: Json, number: int) -> list[User]:
    """Create users, each with a space."""
    anonymous = Caller(url, ledger)
    token = _log_in(anonymous, admin["email"])["accessToken"]
    return [_enrol(anonymous, replace(anonymous, token=token), index) for index in range(number)]


def _enrol(anonymous: Caller, admin: Caller, index: int) -> User:
    email = f"user{index}@example.com"
    body = {"name": f"User {index}", "email": email, "password": PASSWORD, "emailVerified": True}
    created = _require(admin.send("setup", "POST", "/users", body))
    login = _log_in(anonymous, email)
    caller = replace(anonymous, token=login["accessToken"])
    tenant = _require(caller.send("setup", "POST", "/api/v1/tenants", {"name": f"Space {index}"}))
    path = f"/api/v1/tenants/{tenant['id']}"
    return User(created["id"], email, caller, path)


def join_all(users: list[User]) -> None:
    """Make every user a member of every space, so that grants are possible."""
    for user in users:
        for other in users:
            if other is not user:
                path = f"{user.tenant}/members/{other.id}"
                _require(user.caller.send("setup", "PUT", path, {"role": "member"}))


def _log_in(caller: Caller, email: str) -> Json:
    body = {"username": email, "password": PASSWORD}
    return _require(caller.send("setup", "POST", "/authorizations", body))


def _require(answer: Answer) -> Json:
    assert answer.is_success, answer
    return answer.json()
