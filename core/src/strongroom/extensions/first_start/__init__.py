"""The start page, and the setup of the first administrator."""
