"""Telemetry: what the server tells its operators: metrics and the log."""
