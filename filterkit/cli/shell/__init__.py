"""Connects the command to a shell and a terminal: streams, signals, completion, printing."""
