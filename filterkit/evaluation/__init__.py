"""Compares chains by cross-validation."""
