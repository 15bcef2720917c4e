import pickle
import random
from itertools import accumulate

import pyarrow as pa
import pytest
from content import open_reader, outcome
from pyarrow import feather, parquet

from filterkit import FilterkitError, LenientWarning, batches, plugin
from filterkit.data.batch import concatenate, itself, same
from filterkit.engines.local import LocalEngine
from filterkit.files.stretches import Stretch
from filterkit.plugin.formats import find_format
from filterkit.plugin.registry import get_registry


class Workers(plugin.LocalEngine):
    """Threads that read files themselves, as the workers of clusters do; everything is pickled on the way."""

    name = "workers"
    reads_files = True

    def __init__(self, jobs, options=""):
        super().__init__(jobs, options)
        self.items = []

    def map(self, function, items):
        packed = pickle.dumps(function)

        def call(text):
            return pickle.loads(packed)(pickle.loads(text))

        def texts():
            for item in items:
                text = item if item is plugin.PAUSE else pickle.dumps(item)
                self.items.append(text)
                yield text

        return super().map(call, texts())


def opened(path, kind, **options):
    return open_reader(find_format(kind, get_registry().formats, ""), str(path), **options)


def read(path, kind, engine, **options):
    """The rows, or the error."""
    return outcome(path, engine, find_format(kind, get_registry().formats, ""), **options)


def csv(rows, quoted=0.0):
    """CSV in which so many cells have line ends and quotes."""
    draw = random.Random(1)
    texts = draw.choices(['"a ""b""\n1,2,3\n"', '"q"', "plain"], [quoted, 0.2, 0.8 - quoted], k=rows)
    return "n,t,c\n" + "".join(f"{i},{text},{'pq'[i % 2]}\n" for i, text in enumerate(texts))


SAMPLES = {
    "plain.csv": ("csv:string=t", csv(300)),
    "few-quotes.csv": ("csv:string=t", csv(300, 0.01)),
    "quotes.csv": ("csv:string=t", csv(300, 0.9)),
    "windows.csv": ("csv:string=t", csv(300).replace("\n", "\r\n")),
    "mac.csv": ("csv:string=t", csv(300).replace("\n", "\r")),
    "mark.csv": ("csv:string=t", "\ufeff" + csv(300)),
    "open.csv": ("csv:string=t", csv(300) + '1,"open,p\n' + csv(20)[6:]),
    "bad.csv": ("csv:string=t,numeric=n", csv(300, 0.01).replace("\n270,", "\nx,")),
    "long.csv": ("csv:string=t", csv(20) + "7," + "long" * 5000 + ",p\n" + csv(20)[6:]),
    "a.jsonl": ("jsonl", "".join(f'{{"a":{i},"b":"{i % 3}"}}\n' for i in range(300))),
    "bad.jsonl": ("jsonl", "".join(f'{{"a":{i},"b":{i % 3}}}\n' for i in range(300)) + "\n\n{]\n"),
    "a.libsvm": ("libsvm", "".join(f"{i % 2} {i % 5 + 1}:{i} 7:0.5\n" for i in range(300))),
    "bad.libsvm": ("libsvm:features=7", "".join(f"{i % 2} 7:{i}\n" for i in range(300)) + "1 x\n1 2:3\n"),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_workers_read_lines_of_text_themselves_with_the_same_rows_and_errors(name, tmp_path):
    kind, text = SAMPLES[name]
    (tmp_path / name).write_bytes(text.encode())
    expected = read(tmp_path / name, kind, LocalEngine(1))
    for size in (20, 1000):
        engine = Workers(2)
        assert read(tmp_path / name, kind, engine, block_size=size) == expected
    if name in ("plain.csv", "windows.csv", "mac.csv", "a.jsonl", "a.libsvm"):
        assert max(map(len, engine.items)) < 500 and len(engine.items) > 3  # no text goes to them
        with opened(tmp_path / name, kind, block_size=1000) as reader:
            first, again = (list(reader.map(itself, engine)) for _ in range(2))
        assert [batch.start for batch in again] == [*accumulate(map(len, again[:-1]), initial=0)]
        assert same(concatenate(again, reader.schema), concatenate(first, reader.schema))


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("rows", [0, 1000])
def test_workers_read_groups_of_rows_themselves(kind, rows, tmp_path):
    texts = pa.array([f"t{i % 7}" for i in range(rows)], pa.string()).dictionary_encode()
    table = pa.table({"a": pa.array(range(rows), pa.float64()), "s": texts.cast(pa.string()), "c": texts})
    path = tmp_path / f"a.{kind}"
    if kind == "parquet":
        parquet.write_table(table, path, row_group_size=30)
    else:
        feather.write_feather(table, path, chunksize=30)
    engine = Workers(2)
    assert read(path, kind, engine) == read(path, kind, LocalEngine(1))
    assert max(map(len, engine.items), default=0) < 500
    if not rows:
        return
    with opened(path, kind) as gone:
        path.unlink()
        with pytest.raises(FilterkitError, match=r"a\.\w+: a worker does not find it at .*; put it where all"):
            list(gone.map(len, Workers(2)))


def test_finished_parts_are_not_read_again_unless_an_error_has_to_name_its_line(tmp_path, monkeypatch):
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f'{{"a":{number}}}\n' for number in range(100, 130)))
    read = []
    find_text = Stretch.read
    monkeypatch.setattr(Stretch, "read", lambda self: read.append(self.begin) or find_text(self))
    with opened(path, "jsonl", part_size=100) as reader:
        assert list(reader.map(len, LocalEngine(1))) == [10, 10, 10] and read == [0, 100, 200]
    read.clear()
    with opened(path, "jsonl", part_size=100) as reader:
        found = list(reader.map(itself, LocalEngine(1), {0: 10, 1: 10}))
    assert found[:2] == [None, None] and found[2].X[0] == 120 and read == [200]
    path.write_text(path.read_text().replace("125", "xyz"))
    with opened(path, "jsonl:look=100", part_size=100) as reader, pytest.raises(FilterkitError, match=r"jsonl:26: "):
        list(reader.map(itself, LocalEngine(1), {0: 10, 1: 10}))


def test_text_that_only_this_process_can_cut_is_read_here(tmp_path):
    class Table(plugin.TextTable):
        pass

    (tmp_path / "a.txt").write_text("1\n2\n")
    source = plugin.Opening(str(tmp_path / "a.txt")).text()
    assert Table("r", [], source).stretches(2) is not None
    assert Table("r", [], source, last=lambda text: text.rfind(b"\n") + 1).stretches(2) is None
    Table.parts = lambda self: iter([])
    assert Table("r", [], source).stretches(2) is None
    source.close()


def test_rows_that_were_read_are_warned_of_when_no_more_are_wanted(tmp_path):
    (tmp_path / "x.arff").write_text("@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n,1\n")
    rows = batches(tmp_path / "x.arff", lenient=True)
    next(rows)
    with pytest.warns(LenientWarning, match="1 empty value"):
        rows.close()
