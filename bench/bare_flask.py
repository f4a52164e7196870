"""``python -m bench.bare_flask CONFIG``: an empty Flask route, served like Strongroom.

It uses Strongroom's own server code, so that both always have the same server, processes and threads.
The difference between their figures is then Strongroom's own work.
"""

import os
import sys
from pathlib import Path
from types import ModuleType

from flask import Flask

from strongroom.assembly.server_process import run
from strongroom.foundation.config import Configuration, load


class NoServices:
    """In place of the services that a process of Strongroom starts and closes."""

    def start(self) -> None:
        """Start nothing."""

    def close(self) -> None:
        """Close nothing."""

    def on_queue_wait(self, queue: str, seconds: float) -> None:
        """Record nothing."""


def create_bare_app(_: Configuration) -> Flask:
    """Make the application."""
    app = Flask("bare_flask", static_folder=None)

    @app.get("/")
    def hello() -> str:
        return "hello"

    return app


if __name__ == "__main__":
    # In place of Strongroom's own, which to import would be a part of Strongroom's work.
    application = ModuleType("strongroom.assembly.app")
    application.__dict__["create_app"] = create_bare_app
    application.__dict__["get_container"] = lambda _: NoServices()
    sys.modules[application.__name__] = application
    run(load(Path(sys.argv[1]), os.environ), lambda: None)
