"""Logins for front ends on other origins: a code leads the tokens there."""
