"""Sends Strongroom's SMS by HTTP."""
