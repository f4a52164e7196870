"""Telemetry: metrics and the log."""
