"""The conformance kit for authors of plugins: what every stage must hold to, and samples to try it on."""

from filterkit.data.batch import same
from filterkit.testing.checks import CHECKS
from filterkit.testing.samples import SAMPLES, sample

__all__ = ["CHECKS", "SAMPLES", "same", "sample"]
