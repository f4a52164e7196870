"""Sends deliveries: a thread claims endpoints, and a pool of threads sends to them."""

import json
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore, Event, Lock, Thread
from typing import Final

from strongroom.plugin_api.host import Clock
from strongroom.plugin_api.outbound import (
    OutboundClient,
    OutboundFailed,
    OutboundRefused,
    OutboundResponse,
)
from strongroom.plugin_api.page_lists import read_number
from strongroom.plugin_api.tracing import span
from strongroom.plugin_api.web import ApiError
from strongroom_webhooks.metrics import count_attempt
from strongroom_webhooks.models import Outcome
from strongroom_webhooks.owners import OWNER_GONE, Owners
from strongroom_webhooks.queue import Attempt, Claim, DeliveryQueue
from strongroom_webhooks.signing import SigningKeys, signed_headers

POLL_SECONDS: Final = 1.0
"""How often the database is read for deliveries that other processes have queued."""

SHOWN_BYTES: Final = 1024
"""The part of a response body that the log of deliveries keeps."""

MOST_WAIT_SECONDS: Final = 30.0
"""The longest pause after failures of the database; it is doubled with each failure."""

_TURN_SECONDS: Final = 5.0
"""How long one endpoint is served before others have a turn."""

_OK: Final = range(200, 300)
_GONE: Final = 410

logger = logging.getLogger(__name__)


class Sender:
    """Sends due deliveries. Every process may have one: claims keep them apart.

    Endpoints whose last attempt failed get at most half of the threads, so that receivers that hang do
    not delay the others.

    Args:
        client: sends requests.
        unseal: decrypts the keys of an endpoint.
        owners: the rights of the owners of endpoints.
    """

    def __init__(
        self,
        queue: DeliveryQueue,
        client: OutboundClient,
        unseal: Callable[[str], str],
        clock: Clock,
        concurrency: int,
        owners: Owners,
    ) -> None:
        self._queue = queue
        self._client = client
        self._unseal = unseal
        self._clock = clock
        self._owners = owners
        self._free = BoundedSemaphore(concurrency)
        self._most_failing = max(1, concurrency // 2)
        self._failing = 0
        self._lock = Lock()
        self._awake = Event()
        self._stopping = Event()
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="webhooks")
        self._thread = Thread(target=self._run, name="webhooks", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def wake(self) -> None:
        """Look for deliveries now, instead of at the next poll."""
        self._awake.set()

    def stop(self) -> None:
        """Finish the requests on their way, and end the threads."""
        self._stopping.set()
        self._awake.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._pool.shutdown()

    def send_due(self) -> int:
        """Send the due deliveries in the calling thread; return the number of attempts."""
        sent = 0
        while claim := self._queue.claim():
            following: Claim | None = claim
            while following:
                following, is_sent = self._deliver(following, keep=lambda: True)
                sent += is_sent
        return sent

    def _run(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            self._awake.clear()
            try:
                is_busy = self._dispatch()
            except Exception as error:
                if not failures:
                    _log_failure(error)
                failures += 1
                self._stopping.wait(min(POLL_SECONDS * 2**failures, MOST_WAIT_SECONDS))
                continue
            if failures:
                logger.warning("Webhooks: deliveries are claimed again")
                failures = 0
            if not is_busy:
                self._awake.wait(POLL_SECONDS)

    def _dispatch(self) -> bool:
        """Give one endpoint to the pool; return whether there may be more."""
        if not self._free.acquire(timeout=POLL_SECONDS):
            return True
        claim = None
        try:
            # A read before the claim, because a claim of nothing would still take the lock of SQLite.
            if self._queue.has_due():
                claim = self._queue.claim(failing=self._failing < self._most_failing)
        finally:
            if claim is None:
                self._free.release()
        if claim is None:
            return False
        self._count(claim, 1)
        self._pool.submit(self._serve, claim)
        return True

    def _serve(self, first: Claim) -> None:
        until = time.monotonic() + _TURN_SECONDS
        claim: Claim | None = first
        try:
            while claim:
                claim, _ = self._deliver(claim, keep=lambda: self._may_continue(until))
        except Exception:
            # The claim ends by its time, and the delivery is sent again.
            logger.exception("Webhooks: endpoint %s", first.endpoint.id)
        finally:
            self._count(first, -1)
            self._free.release()
            self.wake()

    def _may_continue(self, until: float) -> bool:
        return time.monotonic() < until and not self._stopping.is_set()

    def _deliver(self, claim: Claim, keep: Callable[[], bool]) -> tuple[Claim | None, bool]:
        """Send a delivery; return the endpoint's next due one, and whether this one was sent."""
        # Now and not when it was queued, so that events of before do not reach a former administrator.
        if not self._owners.administer(claim.endpoint):
            if self._queue.stop(claim, OWNER_GONE):
                self._owners.record_stop(claim.endpoint)
            return None, False
        attempt = self._attempt(claim)
        return self._queue.conclude(claim, attempt, keep=keep()), True

    def _count(self, claim: Claim, difference: int) -> None:
        if claim.endpoint.failing_since is not None:
            with self._lock:
                self._failing += difference

    def _attempt(self, claim: Claim) -> Attempt:
        # Continues the trace of the request that caused the event.
        with span("webhook delivery", parent=claim.delivery.traceparent):
            attempt = self._send(claim)
        count_attempt(attempt.outcome, attempt.duration)
        return attempt

    def _send(self, claim: Claim) -> Attempt:
        body = claim.delivery.body.encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "Strongroom-Webhooks",
            **self._signature(claim, body),
        }
        started = time.monotonic()
        try:
            response = self._client.request("POST", claim.endpoint.url, headers=headers, body=body)
        except OutboundRefused as error:
            return Attempt(Outcome.REFUSED, error=f"refused: {error}", duration=_since(started))
        except OutboundFailed as error:
            return Attempt(Outcome.PENDING, error=str(error), duration=_since(started))
        return _of_response(response, _since(started))

    def _signature(self, claim: Claim, body: bytes) -> dict[str, str]:
        now = self._clock.now()
        keys = [SigningKeys.from_json(item) for item in json.loads(self._unseal(claim.sealed_keys))]
        valid = [key for key in keys if key.valid_until is None or key.valid_until > now]
        return signed_headers(valid, claim.delivery.event_id, now // 1000, body)


def _of_response(response: OutboundResponse, duration: int) -> Attempt:
    is_ok = response.status in _OK
    after = response.headers.get("retry-after", "")
    return Attempt(
        Outcome.SUCCEEDED if is_ok else Outcome.FAILED if response.status == _GONE else Outcome.PENDING,
        status=response.status,
        error=None if is_ok else f"the receiver answered {response.status}",
        # NUL is text that PostgreSQL cannot store.
        answer=response.body[:SHOWN_BYTES]
        .decode("utf-8", "replace")
        .replace("\0", "\N{REPLACEMENT CHARACTER}"),
        duration=duration,
        retry_after=read_number(after),
        is_gone=response.status == _GONE,
    )


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)


def _log_failure(error: Exception) -> None:
    """Log the first of several failures: a database that is unavailable fails at each poll."""
    # An error of the API is one of a backend, which has no place in this code.
    traceback = None if isinstance(error, ApiError) else error
    logger.error("Webhooks: claiming deliveries failed: %s", error, exc_info=traceback)
