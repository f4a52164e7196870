"""A simulated Aliyun SMS gateway, which records messages without delivering them."""

from strongroom_simulators.sms.account import Account
from strongroom_simulators.sms.deliveries import Delivery
from strongroom_simulators.sms.gateway import Gateway
from strongroom_simulators.sms.messages import ApiError
from strongroom_simulators.sms.server import Line, SmsSimulator
from strongroom_simulators.sms.templates import Template

__all__ = ["Account", "ApiError", "Delivery", "Gateway", "Line", "SmsSimulator", "Template"]
