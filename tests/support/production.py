"""A configuration of production without faults, and the one line with which a changed one is refused."""

from pathlib import Path

import pytest

from strongroom.cli.startup import require_offline
from strongroom.foundation.config import ConfigurationError, load
from tests.support.config import Table

SECRET = "uT5v0cQm3sXk9wZrB7nLd2yHfJ4gPeAa"


OWN_STORE = {"STRONGROOM__STORAGES__MAIN__ACCESS_KEY_ID": "AKIAIOSFODNN7"}
OWN_MAIL = {
    "STRONGROOM__MESSAGES__SMTP__HOST": "mail.acme.org",
    "STRONGROOM__MESSAGES__SMTP__SENDER": "Acme <no-reply@acme.org>",
}
OWN_SMS = {
    "STRONGROOM__MESSAGES__ALIYUN_SMS__ACCESS_KEY_ID": "LTAI4FodnnIos7",
    "STRONGROOM__MESSAGES__ALIYUN_SMS__SIGN_NAME": "Acme",
    "STRONGROOM__MESSAGES__ALIYUN_SMS__TEMPLATES": '{ login = "SMS_100000001" }',
}
"""Variables in place of the sample values of the files, which production refuses."""


def production(folder: Path) -> Table:
    """Return a configuration without faults; faults are reported by the line of its text."""
    return {
        "server": {
            "mode": "production",
            "port": 8001,
            "public_url": "https://files.example.com",
            "data_dir": f"{folder}/data",
            "secret_key": SECRET,
            "trusted_proxies": ["127.0.0.1/32"],
        },
        "database": {"url": "postgresql+psycopg://strongroom:hush@db.example.com/strongroom"},
        "redis": {"url": "redis://127.0.0.1:6379/0"},
        "plugins": {"enabled": ["storage_local", "login_sms", "sms_aliyun"]},
        "storages": {"main": {"backend": "local", "root": f"{folder}/files"}},
        "files": {"storage": "main"},
        "login": {"methods": ["password"]},
        "captcha": {"provider": "image"},
        "messages": {
            "email": ["smtp"],
            "sms": [],
            "smtp": {
                "host": "mail.acme.org",
                "sender": "Acme <no-reply@acme.org>",
            },
        },
        "tokens": {"algorithm": "HS256", "keys_file": f"{folder}/keys.json"},
    }


def fault(config: Path, environment: dict[str, str] | None = None) -> str:
    """Return the one line that the configuration is refused with."""
    with pytest.raises(ConfigurationError) as refusal:
        require_offline(load(config, environment or {}))
    (problem,) = refusal.value.problems
    # "wrong", exit status 2; "away now" would be 3.
    assert not refusal.value.is_temporary
    line = str(problem)
    assert "\n" not in line
    assert "hush" not in line
    return line.replace(str(config.parent), "DIR")
