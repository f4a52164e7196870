"""Entry point of the plugin: the command ``strongroom NAME simulator`` of each simulated platform."""

from typing import Final

import click

from strongroom.plugin_api import hookimpl
from strongroom_simulators.alipay.commands import simulator as alipay
from strongroom_simulators.dingtalk.commands import simulator as dingtalk
from strongroom_simulators.feishu.commands import simulator as feishu
from strongroom_simulators.oidc_providers.commands import simulator as oidc
from strongroom_simulators.oss.commands import simulator as oss
from strongroom_simulators.sms.commands import simulator as sms
from strongroom_simulators.wechat.commands import simulator as wechat
from strongroom_simulators.wecom.commands import simulator as wecom

API_VERSION = "2.0"

_COMMANDS: Final = {
    "alipay": ("Alipay login", alipay),
    "dingtalk": ("DingTalk login", dingtalk),
    "feishu": ("Feishu login", feishu),
    "oidc": ("login by OpenID Connect", oidc),
    "oss": ("Aliyun OSS", oss),
    "sms": ("SMS", sms),
    "wechat": ("WeChat login", wechat),
    "wecom": ("WeCom login", wecom),
}


@hookimpl
def register_commands() -> list[click.Command]:
    return [
        click.Group(name, commands={"simulator": command}, help=f"Tools for {subject}.")
        for name, (subject, command) in _COMMANDS.items()
    ]
