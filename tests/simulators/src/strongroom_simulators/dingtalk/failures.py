"""Injected failures: planned responses of an interface."""

import json

from strongroom_simulators.dingtalk.refusals import CODES, ERRCODES
from strongroom_simulators.planned import PlannedAnswers


class Failures(PlannedAnswers):
    """The planned responses of each path, in order."""

    def plan(self, path: str, code: str | int, *, times: int = 1) -> None:
        """Make the next requests to ``path`` fail with a string code or an errcode."""
        if isinstance(code, int):
            body = {"errcode": code, "errmsg": ERRCODES.get(code, "an undocumented error")}
            self.plan_answer(path, json.dumps(body).encode(), times=times)
            return
        status, message = CODES.get(code, (400, "an undocumented error"))
        body = {"code": code, "message": message, "requestid": "planned"}
        self.plan_answer(path, json.dumps(body).encode(), status=status, times=times)
