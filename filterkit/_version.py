"""The version of filterkit, and the distribution that it is installed as."""

__version__ = "0.1.0"
DISTRIBUTION = "arff-filterkit"
