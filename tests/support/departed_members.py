"""People who leave an organisation while they download: downloads in progress, and time that passes."""

from collections.abc import Iterator

from strongroom.testing.clock import MINUTE
from tests.support.api import Api, Person


class ServerTime:
    """Lets time pass, and runs the jobs that are due each minute, as a server does."""

    def __init__(self, api: Api) -> None:
        self._clock = api.clock
        self._runner = api.container.job_runner(api.container.jobs())
        self._runner.register()

    def run_jobs(self) -> None:
        """Run the jobs that are due now."""
        self._runner.run_due()

    def pass_minutes(self, minutes: int) -> None:
        """Advance the clock minute by minute."""
        for _ in range(minutes):
            self._clock.advance(MINUTE)
            self.run_jobs()


class Download:
    """A download, of which one part has arrived."""

    def __init__(self, api: Api, path: str, person: Person) -> None:
        headers = {"Authorization": f"Bearer {person.token}"}
        self._response = api.app.test_client().get(path, headers=headers)
        assert self._response.status_code == 200
        self._chunks: Iterator[bytes] = self._response.iter_encoded()
        self._received = len(next(self._chunks))

    def finish(self) -> int:
        """Return the number of bytes that arrive in all."""
        self._received += sum(map(len, self._chunks))
        self._response.close()
        return self._received


def with_access_key(api: Api, person: Person) -> Person:
    """Return the person with an access key in place of the login."""
    body = {"name": "key", "scopes": ["files:read"]}
    answer = api.post("/users/me/access-keys", body, by=person)
    assert answer.status_code == 201, answer.text
    return Person(person.id, "", answer.json["key"])
