"""Uploads that go on where they broke off (tus 1.0)."""
