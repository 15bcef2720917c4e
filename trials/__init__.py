"""Machines that look for what is wrong: each makes inputs by chance, from a seed, and says which one fails.

They share with the tests how Weka is run and how a batch becomes plain values.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "arff_samples"
if str(ROOT / "tests") not in sys.path:
    sys.path.append(str(ROOT / "tests"))
