"""The version of filterkit."""

__version__ = "0.1.0"
