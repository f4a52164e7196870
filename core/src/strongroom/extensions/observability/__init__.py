"""Logs, metrics, readiness and the doctor."""
