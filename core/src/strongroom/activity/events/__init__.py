"""Events: their types, the streams that they are read from, and their delivery to plugins."""
