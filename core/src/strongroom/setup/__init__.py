"""The first administrator, by a link that is good once."""
