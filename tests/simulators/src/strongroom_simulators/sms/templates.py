"""Approved templates and their variables."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from strongroom_simulators.sms.messages import ApiError

VARIABLE = re.compile(r"\$\{(\w+)\}")
LONGEST_VALUE = 35


@dataclass(frozen=True, slots=True)
class Template:
    """A text with variables such as ``${code}``, for mainland or for all other numbers."""

    code: str
    text: str
    overseas: bool = False

    def fill(self, parameters: Mapping[str, str]) -> str:
        """Return the text with its variables filled in.

        Raises:
            ApiError: a variable has no value, or its value is too long.
        """
        for name in VARIABLE.findall(self.text):
            if name not in parameters:
                raise ApiError("isv.TEMPLATE_MISSING_PARAMETERS", "模版缺少变量")
            if len(parameters[name]) > LONGEST_VALUE:
                raise ApiError("isv.PARAM_LENGTH_LIMIT", "参数超出长度限制")
        return VARIABLE.sub(lambda match: parameters[match[1]], self.text)


def parse_parameters(text: str) -> Mapping[str, str]:
    """Parse a TemplateParam.

    Raises:
        ApiError: it is not a JSON object of strings.
    """
    try:
        parameters = json.loads(text or "{}")
    except ValueError:
        parameters = None
    strings = isinstance(parameters, dict) and all(
        isinstance(value, str) for value in parameters.values()
    )
    if not strings:
        raise ApiError("isv.INVALID_JSON_PARAM", "JSON参数不合法")
    return dict(parameters or {})
