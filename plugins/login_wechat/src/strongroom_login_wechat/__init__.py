"""Logs people in by WeChat: website QR code and mini program."""
