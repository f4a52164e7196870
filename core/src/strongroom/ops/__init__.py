"""What operators need: metrics, traces, checks."""
