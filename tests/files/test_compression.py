"""Compressed streams: what can be read of a file that is cut off."""

import io
from functools import partial

import numpy as np
import pytest

from filterkit.files.compression import compress, decompress


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
def test_text_before_the_end_of_a_cut_file_is_read(tmp_path, ending):
    text = "".join(f"{number}\n" for number in np.random.default_rng(3).integers(10**9, size=130_000)).encode()
    path = tmp_path / f"t{ending}"
    with open(path, "wb") as raw, compress(raw, str(path)) as file:
        file.write(text)
    stream, pieces = decompress(io.BytesIO(path.read_bytes()[:-20]), str(path)), []
    with pytest.raises((EOFError, OSError)):
        pieces.extend(iter(partial(stream.read, 1 << 20), b""))
    found = b"".join(pieces)
    assert text.startswith(found)
    assert len(found) > len(text) - 1_100_000  # a block of bzip2, and what is read at once
    with pytest.raises((EOFError, OSError)):
        stream.read(1)
