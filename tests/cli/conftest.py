"""Where tests of the command run."""

from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "arff_samples"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty folder, in which the test and its commands run; ``../iris.arff`` and the like are samples."""
    for sample in SAMPLES.glob("*.arff"):
        (tmp_path / sample.name).symlink_to(sample)
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder
