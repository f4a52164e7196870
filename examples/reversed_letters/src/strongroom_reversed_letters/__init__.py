"""A captcha: letters to type in reverse order."""
