"""Logs people in by Feishu or Lark."""
