"""Injected failures: planned responses of an interface."""

import json

from strongroom_simulators.planned import PlannedAnswers
from strongroom_simulators.wecom.refusals import message_of


class Failures(PlannedAnswers):
    """The planned responses of each path, in order."""

    def plan(self, path: str, errcode: int, *, times: int = 1, message: str | None = None) -> None:
        """Make the next requests to ``path`` fail with an errcode."""
        text = message_of(errcode) if message is None else message
        self.plan_answer(path, json.dumps({"errcode": errcode, "errmsg": text}).encode(), times=times)
