"""The README's code runs."""

import re
from pathlib import Path

import pytest

from strongroom.testing.server import LiveServer, LiveUser
from strongroom_client import Client

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)


def test_the_blocks_run_one_after_another(
    server: LiveServer,
    alice: LiveUser,
    root: LiveUser,
    client: Client,
    tenant_id: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    Path("report.pdf").write_bytes(b"%PDF" * 1_000_000)

    def read_code(recipient: str) -> str:
        codes = [each["code"] for each in server.messages() if recipient in str(each)]
        return codes[-1]

    names: dict[str, object] = {"__name__": "readme", "read_code": read_code}
    for block in BLOCKS:
        code = block.replace("https://files.example.com", server.url)
        for example, email in (("alice@example.com", alice.email), ("root@example.com", root.email)):
            code = code.replace(example, email)
        exec(code, names)
    shown = capsys.readouterr().out
    assert "report.pdf 4000000" in shown
    assert "4000000 of 4000000 bytes" in shown
    assert "[('mobile', 'Must be a mobile number" in shown
    assert "ben@example.com\n" in shown
    assert "['copy of draft.txt', 'draft.txt']\nactive\n" in shown
    assert "\nTrue\nsuspended\n1000 0\nUser 17\nAnna\n" in shown
    assert shown.endswith("wrong password\n")
    assert Path("copy.pdf").read_bytes() == Path("report.pdf").read_bytes()
