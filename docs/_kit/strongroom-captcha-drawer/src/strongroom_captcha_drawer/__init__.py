"""A captcha for Strongroom."""
