"""Asks an application that has the fast path, and one that has not, and holds their answers together."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

from flask import Flask
from werkzeug.datastructures import FileStorage
from werkzeug.test import EnvironBuilder, run_wsgi_app

from strongroom.app import container_of, create_app
from strongroom.clock import Clock
from strongroom.config import load
from strongroom.testing.clock import ManualClock
from strongroom.web.fast_path import FastPath
from tests.support.api import Api, Person

REQUEST_ID = "both-ways"

Sent = tuple[str, list[tuple[str, str]], bytes]
"""The status, the headers in order, and the body of an answer."""

_ID = re.compile(rb'(?<="id":")[0-9a-f-]{36}')


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
        sent = [*(headers.items() if isinstance(headers, dict) else headers or []), *_told_of(by)]

        def send(app: Flask) -> Sent:
            return _send(app, EnvironBuilder(path, method=method, headers=sent), environ or {})

        return self._compare(send)

    def upload(
        self,
        path: str,
        by: Person | None,
        name: str,
        content: bytes,
        *,
        form: bool = False,
        headers: dict[str, str] | None = None,
        environ: dict[str, Any] | None = None,
    ) -> tuple[int, bool]:
        """Upload to both, under names that differ in how they begin, and return as :meth:`ask` does."""
        sent = [*(headers or {}).items(), *_told_of(by)]

        def send(app: Flask) -> Sent:
            way = "1" if app is self.api.app else "2"
            builder = (_form if form else _raw)(path, f"{way}{name}", content, sent)
            status, answered, body = _send(app, builder, environ or {})
            told = _ID.sub(b"", body).replace(f'"name":"{way}'.encode(), b'"name":"')
            id_ = json.loads(body).get("id", "") if status.startswith("201") else ""
            return status, [(name, value.replace(id_, "")) for name, value in answered], told

        return self._compare(send)

    def _compare(self, send: Callable[[Flask], Sent]) -> tuple[int, bool]:
        layer: object = self.api.app.wsgi_app
        while not isinstance(layer, FastPath):
            # Middleware around it; an application without one ends in an AttributeError.
            layer = layer._app  # type: ignore[attr-defined]
        before = layer.answered
        fast, ordinary = send(self.api.app), send(self.ordinary)
        assert fast == ordinary, (fast, ordinary)
        return int(fast[0][:3]), layer.answered > before


def _told_of(person: Person | None) -> list[tuple[str, str]]:
    told = [("X-Request-Id", REQUEST_ID)]
    if person is not None and person.token is not None:
        told.append(("Authorization", f"Bearer {person.token}"))
    return told


def _send(app: Flask, builder: EnvironBuilder, environ: dict[str, Any]) -> Sent:
    chunks, status, answered = run_wsgi_app(app.wsgi_app, {**builder.get_environ(), **environ})
    # The order of fields of different names says nothing (RFC 9110, section 5.3).
    body = b"".join(chunks)
    if callable(close := getattr(chunks, "close", None)):
        close()
    return status, sorted(answered), body


def _raw(path: str, name: str, content: bytes, headers: list[tuple[str, str]]) -> EnvironBuilder:
    named = (
        "Content-Disposition",
        f"attachment; filename*=UTF-8''{quote(name, safe='', errors='surrogatepass')}",
    )
    return EnvironBuilder(path, method="POST", headers=[named, *headers], data=content)


def _form(path: str, name: str, content: bytes, headers: list[tuple[str, str]]) -> EnvironBuilder:
    file = FileStorage(BytesIO(content), filename=name)
    return EnvironBuilder(path, method="POST", headers=headers, data={"file": file})


@contextmanager
def both_ways(config: Path, clock: ManualClock) -> Iterator[BothWays]:
    """Make both applications of one configuration."""
    app, ordinary = _app(config, clock, fast_path=True), _app(config, clock, fast_path=False)
    yield BothWays(Api(app, container_of(app), clock), ordinary)
    for made in (app, ordinary):
        container_of(made).close()


def _app(config: Path, clock: Clock, *, fast_path: bool) -> Flask:
    return create_app(load(config, {}), clock, fast_path=fast_path)
