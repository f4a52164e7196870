"""Logs people in by Alipay."""
