import pickle
import random

import pytest

import filterkit
from filterkit import plugin
from filterkit.data.batch import concatenate, itself
from filterkit.engines.local import LocalEngine
from filterkit.files.stretches import Stretch
from filterkit.formats.reader import Reader
from filterkit.plugin.formats import find_format
from filterkit.plugin.registry import registry


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


def opened(path, kind, block_size=None, **options):
    return Reader(find_format(kind, registry().formats, ""), str(path), block_size=block_size, **options)


def outcome(path, kind, engine, block_size=None, twice=False, **options):
    """The rows, or the error."""
    try:
        with opened(path, kind, block_size, **options) as reader:
            found = [concatenate(list(reader.map(itself, engine)), reader.schema)]
            if twice and reader.rereads(engine):
                batches = list(reader.map(itself, engine))
                assert [batch.start for batch in batches][1:] == [
                    sum(map(len, batches[:n])) for n in range(1, len(batches))
                ]
                found.append(concatenate(batches, reader.schema))
        rows = list(map(plain, found))
        assert rows[0] == rows[-1]
        return rows[0]
    except filterkit.FilterkitError as error:
        return type(error).__name__, str(error)


def plain(batch):
    """The content of a batch, without the chunks that its columns of strings are in."""
    texts = None if batch.passthrough is None else batch.passthrough.to_pydict()
    return repr((batch.in_form(False).X.tolist(), texts, None if batch.y is None else batch.y.tolist()))


def csv(rows, quoted=0.0, seed=1):
    """CSV in which so many cells have line ends and quotes."""
    draw = random.Random(seed)
    texts = (
        '"a ""b""\n1,2,3\n"' if draw.random() < quoted else "plain" if draw.random() < 0.8 else '"q"'
        for _ in range(rows)
    )
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
    expected = outcome(tmp_path / name, kind, LocalEngine(1))
    for size in (20, 1000):
        engine = Workers(2)
        assert outcome(tmp_path / name, kind, engine, size, twice=True) == expected
        if size == 1000 and name in ("plain.csv", "windows.csv", "mac.csv", "a.jsonl", "a.libsvm"):
            assert max(map(len, engine.items)) < 500 and len(engine.items) > 5  # no text goes to them


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("rows", [0, 1000])
def test_workers_read_groups_of_rows_themselves(kind, rows, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    texts = pa.array([f"t{i % 7}" for i in range(rows)], pa.string()).dictionary_encode()
    table = pa.table({"a": pa.array(range(rows), pa.float64()), "s": texts.cast(pa.string()), "c": texts})
    path = tmp_path / f"a.{kind}"
    if kind == "parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=30)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=30)
    engine = Workers(2)
    assert outcome(path, kind, engine, twice=True) == outcome(path, kind, LocalEngine(1))
    assert max(map(len, engine.items), default=0) < 500
    if rows > 1:
        gone = opened(path, kind)
        (part, *_) = gone._files.table.stretches(2)
        path.unlink()
        with pytest.raises(
            filterkit.FilterkitError, match=r"a\.\w+: a worker does not find it at .*; put it where all"
        ):
            gone._parser(part)
        gone.__exit__()


def test_finished_parts_are_not_read_again_unless_an_error_has_to_name_its_line(tmp_path, monkeypatch):
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f'{{"a":{number}}}\n' for number in range(100, 130)))
    read = []
    find_text = Stretch.read
    monkeypatch.setattr(Stretch, "read", lambda self: read.append(self.begin) or find_text(self))
    with opened(path, "jsonl", part_size=100) as reader:
        rows = [len(batch) for batch in reader.map(itself, LocalEngine(1))]
    assert rows == [10, 10, 10] and read == [0, 100, 200]
    read.clear()
    with opened(path, "jsonl", part_size=100) as reader:
        found = list(reader.map(itself, LocalEngine(1), {0: 10, 1: 10}))
    assert found[:2] == [None, None] and found[2].X.tolist() == [[number] for number in range(120, 130)]
    assert read == [200]
    path.write_text(path.read_text().replace("125", "xyz"))
    with opened(path, "jsonl:look=100", part_size=100) as reader, pytest.raises(filterkit.FilterkitError) as caught:
        list(reader.map(itself, LocalEngine(1), {0: 10, 1: 10}))
    assert str(caught.value).startswith(f"{path}:26: ")


def test_text_that_only_this_process_can_cut_is_read_here(tmp_path):
    class Table(plugin.TextTable):
        pass

    (tmp_path / "a.txt").write_text("1\n2\n")
    source = filterkit.plugin.Opening(str(tmp_path / "a.txt")).text()
    assert Table("r", [], source).stretches(2) is not None
    assert Table("r", [], source, last=lambda text: text.rfind(b"\n") + 1).stretches(2) is None
    Table.parts = lambda self: iter([])
    assert Table("r", [], source).stretches(2) is None
    source.close()
