"""A simulated Aliyun SMS gateway, which records messages without delivering them."""

from strongroom_login_sms.simulator.account import Account
from strongroom_login_sms.simulator.deliveries import Delivery
from strongroom_login_sms.simulator.gateway import Gateway
from strongroom_login_sms.simulator.messages import ApiError
from strongroom_login_sms.simulator.server import Line, SmsSimulator
from strongroom_login_sms.simulator.templates import Template

__all__ = ["Account", "ApiError", "Delivery", "Gateway", "Line", "SmsSimulator", "Template"]
