"""Faults in reference layouts under load: ``make faults``."""
