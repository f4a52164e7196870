"""The README names every key and every error code, and none that does not exist."""

import re
from dataclasses import fields
from pathlib import Path

from strongroom_login_alipay.method import AlipayLogin
from strongroom_login_alipay.options import AlipayApp, AlipayOptions

README = Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")
FIRST_CELLS = set(re.findall(r"^\| `([^`]+)` \|", README, re.MULTILINE))


def test_every_key_is_in_a_table() -> None:
    keys = {field.name for options in (AlipayOptions, AlipayApp) for field in fields(options)}
    assert {cell for cell in FIRST_CELLS if re.fullmatch(r"\w+", cell)} == keys


def test_every_error_code_is_in_a_table() -> None:
    codes = {kind.code for kind in AlipayLogin.error_kinds()}
    assert {cell for cell in FIRST_CELLS if cell.startswith("error.")} == codes
