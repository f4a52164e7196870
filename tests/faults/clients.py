"""A client as applications are: it has a time limit, and repeats a request by its key."""

import json
import time
import uuid
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any, Final
from urllib.parse import urlsplit

from tests.faults.ledger import NO_ANSWER, Breach, Ledger, Outcome

TIMEOUT_SECONDS: Final = 8
ATTEMPTS: Final = 4
PAUSE_SECONDS: Final = 1.0

Json = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """A response, or none."""

    status: int
    content: bytes = b""

    @property
    def is_success(self) -> bool:
        """Whether the request was acknowledged."""
        return 200 <= self.status < 300

    @property
    def is_unknown(self) -> bool:
        """Whether the request may have had an effect."""
        return self.status == NO_ANSWER or self.status >= 500

    @property
    def code(self) -> str:
        """The code of an error."""
        try:
            return str(json.loads(self.content)["error"]["code"])
        except (ValueError, KeyError, TypeError):
            return ""

    def json(self) -> Json:
        """Return the body."""
        body: Json = json.loads(self.content)
        return body


@dataclass(frozen=True)
class Caller:
    """Sends requests and records their outcomes."""

    url: str
    ledger: Ledger
    token: str = ""

    def send(
        self,
        kind: str,
        method: str,
        path: str,
        body: Json | bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Send a request once."""
        began = time.monotonic()
        answer = self._exchange(method, path, body, headers or {})
        outcome = Outcome(kind, method != "GET", answer.status, answer.code, began, time.monotonic())
        self.ledger.outcomes.append(outcome)
        if answer.status == 500:
            self.ledger.violate(Breach.ERROR_500, f"500 for {method} {path}: {answer.content[:200]!r}")
        return answer

    def insist(
        self,
        kind: str,
        method: str,
        path: str,
        body: Json | bytes,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Send a request with a key, and repeat it while its outcome is unknown."""
        keyed = {"Idempotency-Key": f'"{uuid.uuid4()}"', **(headers or {})}
        answer = Answer(NO_ANSWER)
        was_unknown = False
        for _ in range(ATTEMPTS):
            answer = self.send(kind, method, path, body, keyed)
            if not answer.is_unknown and answer.code != "error.idempotency-running":
                break
            was_unknown = True
            time.sleep(PAUSE_SECONDS)
        # The key must be known again, unless the server says that it does not know the outcome.
        if was_unknown and answer.status == 409 and "idempotency" not in answer.code:
            self.ledger.violate(
                Breach.DOUBLED, f"the repetition of {method} {path} met its own effect: {answer.code}"
            )
        return answer

    def _exchange(
        self, method: str, path: str, body: Json | bytes | None, headers: dict[str, str]
    ) -> Answer:
        sent = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if isinstance(body, dict):
            sent["Content-Type"] = "application/json"
        content = json.dumps(body).encode() if isinstance(body, dict) else body
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=TIMEOUT_SECONDS)
        with closing(connection):
            try:
                connection.request(method, path, content, {**sent, **headers})
                response = connection.getresponse()
                return Answer(response.status, response.read())
            except (OSError, HTTPException):
                return Answer(NO_ANSWER)
