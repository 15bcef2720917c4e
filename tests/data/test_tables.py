"""Arrow tables with a column for each attribute."""

import pytest

from filterkit import read
from filterkit.plugin import to_table

ROWS = """@relation r
@attribute a numeric
@attribute p {0,1}
@attribute note string
@attribute q {0,1}
@data
"""


@pytest.mark.parametrize("rows", ["1,1,x,0\n0,0,y,?\n", "{0 1,1 1,2 x}\n{2 y,3 ?}\n"])
def test_a_table_has_the_labels_in_their_places(rows, tmp_path):
    path = tmp_path / "in.arff"
    path.write_text(ROWS + rows)
    found = to_table(read(path, labels="p,q")).to_pydict()
    assert found == {"a": [1.0, 0.0], "p": ["1", "0"], "note": ["x", "y"], "q": ["0", None]}
