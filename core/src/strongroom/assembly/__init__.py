"""Creates all services of the domain and their dependencies, independent of HTTP."""
