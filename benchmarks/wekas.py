"""Finds Weka 3.9 and 3.6: class paths for ``java -cp``."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

GET_WEKA = Path(__file__).resolve().parents[2] / "shared" / "peers" / "get-weka"
DEBIAN = Path("/usr/share/java/weka.jar")


def class_path(version: str, given: str | None) -> str | None:
    """The class path of Weka 3.9 or 3.6, or None.

    It is the one given, that of the environment (``FILTERKIT_WEKA39``, ``FILTERKIT_WEKA36``), that of Debian's
    package (3.6 only), or what ``shared/peers/get-weka`` beside the project says.
    """
    if shutil.which("java") is None:
        return None
    found = given or os.environ.get("FILTERKIT_WEKA" + version.replace(".", ""))
    if found:
        return os.pathsep.join(map(os.path.abspath, found.split(os.pathsep)))
    if version == "3.6" and DEBIAN.exists():
        return str(DEBIAN)
    if GET_WEKA.exists():
        answer = subprocess.run([str(GET_WEKA), version], capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            return answer.stdout.strip()
    return None
