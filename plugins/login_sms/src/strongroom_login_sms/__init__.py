"""Logs people in by mobile number and verification code."""
