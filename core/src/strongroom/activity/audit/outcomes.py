"""Outcomes of audit records."""

from typing import Final

SUCCESS: Final = "success"
FAILURE: Final = "failure"
