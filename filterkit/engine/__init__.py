"""Engines: where the work on batches runs."""
