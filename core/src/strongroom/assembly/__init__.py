"""Assembly: makes every service of the domain, each once, and puts them together. Knows no HTTP."""
