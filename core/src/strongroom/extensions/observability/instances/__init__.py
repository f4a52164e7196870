"""The instances of a cluster: each records that it serves, and with which configuration."""
