"""Faults by real means: the command is run again and again, and each time the system fails it in another way."""
