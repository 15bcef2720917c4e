"""Chains compared by cross-validation."""
