"""Engines, which apply functions to items in threads, processes or elsewhere."""
