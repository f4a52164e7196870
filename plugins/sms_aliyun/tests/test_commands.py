"""``strongroom sms simulator``, as a process of its own."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
import urllib3
from click.testing import CliRunner

from strongroom.testing.messages import new_message
from strongroom_simulators.sms.commands import simulator
from strongroom_sms_aliyun.sender import AliyunSms

from .conftest import aliyun_options

pytestmark = pytest.mark.filterwarnings(r"ignore:datetime.datetime.utcnow\(\) is deprecated")

# A shell that starts the tests in the background makes them ignore interrupts, and so their processes.
RUN = """
import signal
from strongroom_simulators.sms.commands import simulator
signal.signal(signal.SIGINT, signal.default_int_handler)
simulator()
"""
Start = Callable[..., tuple["subprocess.Popen[str]", str]]


@pytest.fixture
def start() -> Iterator[Start]:
    processes: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> tuple["subprocess.Popen[str]", str]:
        command = [sys.executable, "-uc", RUN, "--port", "0", *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        processes.append(process)
        assert process.stdout
        endpoint = re.search(r"http://([\d.:]+)", process.stdout.readline())
        assert endpoint
        return process, endpoint[1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def test_it_serves_the_vendors_sdk_and_prints_deliveries(start: Start) -> None:
    _, endpoint = start()
    message = new_message("sms")
    AliyunSms(aliyun_options(endpoint)).send(message)
    url = f"http://{endpoint}/simulator/deliveries"
    with urllib3.PoolManager() as http:
        ((delivery,),) = http.request("GET", url).json().values()
        assert http.request("DELETE", url).status == 200
        assert http.request("GET", url).json() == {"deliveries": []}
    assert delivery["parameters"] == message.parameters
    assert message.parameters["code"] in delivery["text"]


def test_keys_signatures_and_templates_come_from_the_command_line(start: Start) -> None:
    _, endpoint = start(
        *("--access-key-id", "me", "--access-key-secret", "mine", "--sign-name", "Acme", "--no-limits"),
        *("--template", "SMS_1=Code=${code}", "--overseas-template", "SMS_2=Overseas ${code}"),
    )
    options = aliyun_options(
        endpoint,
        access_key_id="me",
        access_key_secret="mine",
        sign_name="Acme",
        templates={"login": "SMS_1"},
        overseas_templates={"login": "SMS_2"},
    )
    for recipient in ("+8613812345678", "+8613812345678", "+85251234567"):
        AliyunSms(options).send(new_message("sms", recipient=recipient))
    with urllib3.PoolManager() as http:
        deliveries = http.request("GET", f"http://{endpoint}/simulator/deliveries").json()["deliveries"]
    texts = [re.sub(r"\d{6}", "#", delivery["text"]) for delivery in deliveries]
    assert texts == ["【Acme】Code=#", "【Acme】Code=#", "【Acme】Overseas #"]


def test_an_interrupt_ends_it_quietly(start: Start) -> None:
    process, _ = start()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_template_without_a_text_is_a_usage_error() -> None:
    result = CliRunner().invoke(simulator, ["--template", "SMS_1"])
    assert (result.exit_code, "'SMS_1' is not CODE=TEXT" in result.output) == (2, True)


def test_an_unknown_path_of_the_simulator_is_not_the_api(start: Start) -> None:
    _, endpoint = start()
    with urllib3.PoolManager() as http:
        assert http.request("DELETE", f"http://{endpoint}/").status == 404
        response = http.request("GET", f"http://{endpoint}/?Action=SendSms")
    assert response.status == 400
    assert json.loads(response.data)["Code"] == "MissingParameter"
