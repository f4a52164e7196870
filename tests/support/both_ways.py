"""Asks an application that has the fast path, and one that has not, and holds their answers together."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flask import Flask
from werkzeug.test import EnvironBuilder, run_wsgi_app

from strongroom.app import container_of, create_app
from strongroom.clock import Clock
from strongroom.config import load
from strongroom.testing.clock import ManualClock
from strongroom.web.fast_path import FastPath
from tests.support.api import Api, Person

REQUEST_ID = "both-ways"


@dataclass
class BothWays:
    """Two applications on the same database and files.

    Args:
        api: speaks to the one with the fast path.
        ordinary: the other.
    """

    api: Api
    ordinary: Flask

    def ask(
        self,
        path: str,
        by: Person | None = None,
        *,
        method: str = "GET",
        headers: list[tuple[str, str]] | dict[str, str] | None = None,
        environ: dict[str, Any] | None = None,
    ) -> tuple[int, bool]:
        """Ask both, and return the status, if it is one answer, and whether it was given fast."""
        sent = [*(headers.items() if isinstance(headers, dict) else headers or [])]
        sent.append(("X-Request-Id", REQUEST_ID))
        if by is not None and by.token is not None:
            sent.append(("Authorization", f"Bearer {by.token}"))

        def send(app: Flask) -> tuple[str, list[tuple[str, str]], bytes]:
            builder = EnvironBuilder(path, method=method, headers=sent)
            chunks, status, answered = run_wsgi_app(
                app.wsgi_app, {**builder.get_environ(), **(environ or {})}
            )
            # The order of fields of different names says nothing (RFC 9110, section 5.3).
            body = b"".join(chunks)
            if callable(close := getattr(chunks, "close", None)):
                close()
            return status, sorted(answered), body

        layer = self.api.app.wsgi_app
        assert isinstance(layer, FastPath)
        before = layer.answered
        fast, ordinary = send(self.api.app), send(self.ordinary)
        assert fast == ordinary, (path, fast, ordinary)
        return int(fast[0][:3]), layer.answered > before


@contextmanager
def both_ways(config: Path, clock: ManualClock) -> Iterator[BothWays]:
    """Make both applications of one configuration."""
    app, ordinary = _app(config, clock, fast_path=True), _app(config, clock, fast_path=False)
    yield BothWays(Api(app, container_of(app), clock), ordinary)
    for made in (app, ordinary):
        container_of(made).close()


def _app(config: Path, clock: Clock, *, fast_path: bool) -> Flask:
    return create_app(load(config, {}), clock, fast_path=fast_path)
