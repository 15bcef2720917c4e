"""The engine dask on real workers: a scheduler and two workers in processes of their own, as an administrator starts
them, and workers that the engine starts itself."""

import asyncio
import contextlib
import gzip
import http.server
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import numpy as np
import pytest
from agreement import cut
from command import files, output, refusal, run, start, wait_for
from content import arff_of_numbers

import filterkit
import filterkit.testing as testing
from filterkit.counts.statistic import Statistic

distributed = pytest.importorskip("distributed", reason="the package distributed is not installed")

from filterkit_plugins.dask_engine import DaskEngine  # noqa: E402
from filterkit_plugins.dask_engine.versions import check_worker_versions, find_library_versions  # noqa: E402
from filterkit_plugins.dask_engine.work import replace_parts  # noqa: E402

pytestmark = pytest.mark.separate

# Dask is not imported in commands of other tests: with it, semaphores outlive a failed command with processes.
DASK = {"imported": ("distributed",)}
SAMPLES = pathlib.Path(__file__).parents[2] / "arff_samples"
PLUGIN = """
import os
from filterkit import RowStage, StageError, hookimpl

class Doubled(RowStage):
    '''Double all numbers.'''
    name = "doubled"
    def transform(self, batch):
        return batch.replace(X=batch.X * 2)

class Die(RowStage):
    '''End the process at one row.'''
    name = "die"
    def transform(self, batch):
        if (batch.X[:, 0] == 1500).any():
            os._exit(3)
        return batch

class Refuse(RowStage):
    '''Refuse one row.'''
    name = "refuse"
    def transform(self, batch):
        found = (batch.X[:, 0] == 1500).nonzero()[0]
        if len(found):
            raise StageError(self.name, "1500 is too many", batch.start + int(found[0]))
        return batch

@hookimpl
def filterkit_stages():
    return [Doubled, Die, Refuse]
"""


KILLING = """
import os, signal, time
from filterkit import RowStage, hookimpl

class SlowOrKilled(RowStage):
    "Take time; the first worker that comes here is killed."
    name = {name!r}
    def transform(self, batch):
        try:
            from distributed import get_worker
            get_worker()
        except ValueError:
            time.sleep(0 if os.path.exists({marker!r}) else 1.5)  # evaluate asks workers if there is much to do
            return batch
        try:
            os.close(os.open({marker!r}, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return batch
        os.kill(os.getpid(), signal.SIGKILL)

@hookimpl
def filterkit_stages():
    return [SlowOrKilled]
"""
WAITING = """
import os, time
from filterkit import RowStage, hookimpl

class Wait(RowStage):
    "Say which process this is, and wait."
    name = "wait"
    def transform(self, batch):
        with open({marker!r} + ".part", "w") as file:
            file.write(str(os.getpid()))
        os.replace({marker!r} + ".part", {marker!r})
        time.sleep(1000)

@hookimpl
def filterkit_stages():
    return [Wait]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("dask")
    (path / "away").mkdir()
    (path / "away" / "plugin.py").write_text(PLUGIN)
    (path / "n.arff").write_text(arff_of_numbers(3000))
    shutil.copy(SAMPLES / "iris.arff", path)
    digits = filterkit.read(SAMPLES / "digits.arff")
    filterkit.write(digits.take(np.arange(0, len(digits), 12)), path / "digits.arff")
    (path / "n.arff.gz").write_bytes(gzip.compress(arff_of_numbers(3000).encode()))
    (path / "broken.arff").write_text(arff_of_numbers(3000).replace("\n1500,", "\nx,").replace("\n2000,", "\n2000,1,"))
    words = "".join(f"'{' '.join(f'w{i * j % 97}' for j in range(i % 9))}',{'pq'[i % 2]}\n" for i in range(2000))
    (path / "texts.arff").write_text(f"@relation r\n@attribute t string\n@attribute c {{p,q}}\n@data\n{words}")
    for number in range(3):
        (path / f"part-{number}.arff").write_text(arff_of_numbers(500))
    output("--save saved.fk -o saved.arff n.arff shape bns", cwd=path)
    return path


@contextlib.contextmanager
def scheduled(folder, workers, *options, **settings):
    """The name of the file of a scheduler that has some workers, which were started in another folder."""
    file, started = folder / "scheduler.json", []
    place = ["--scheduler-file", str(file)]
    main = [sys.executable, "-m", "distributed.cli.dask_scheduler", *place, "--host", "127.0.0.1", "--port", "0"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", *place, "--nthreads", "1", "--memory-limit", "0"]
    with open(folder / "log", "wb") as log:
        settings = {"cwd": folder / "away", "stdout": log, "stderr": log} | settings
        started.append(subprocess.Popen([*main, "--dashboard-address", "127.0.0.1:0", *options], **settings))
        for _ in range(workers):
            started.append(subprocess.Popen([*worker, "--no-dashboard"], **settings))
        try:
            wait_for(lambda: file.exists() and file.stat().st_size)
            yield str(file)
        finally:
            for process in reversed(started):  # workers first: they end theirs
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(30)
                process.kill()


@pytest.fixture(scope="module")
def scheduler(folder):
    """The name of the file of a scheduler that has two workers."""
    with scheduled(folder, 2) as file:
        with distributed.Client(scheduler_file=file) as client:
            client.wait_for_workers(2, timeout=120)
        yield file


@pytest.fixture
def client(scheduler):
    with distributed.Client(scheduler_file=scheduler) as client:
        client.wait_for_workers(2, timeout=120)
        yield client


def outcome(folder, engine, line, **options):
    """The files in the folder out, exit status, messages and standard output of a command."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    (folder / "out").mkdir()
    done = run("--engine", engine, *shlex.split(line), cwd=folder, **(options or DASK))
    found = {name: re.sub(rb"% filterkit.*\n", b"", text) for name, text in files(folder / "out").items()}
    return found, done.returncode, done.stderr, re.sub(r"% filterkit.*\n", "", done.stdout)


def assert_same(folder, scheduler, line, status=0):
    """Assert that a command does on the workers what it does in threads; returns what that is."""
    found, expected = (outcome(folder, engine, line) for engine in (f"dask:{scheduler}", "local"))
    assert found == expected and found[1] == status
    return found


@pytest.mark.parametrize("check", testing.ENGINE_CHECKS, ids=lambda check: check.__name__)
def test_the_engine_conforms(check, client, monkeypatch):
    monkeypatch.setattr("filterkit.testing.engines._JOBS", (2,))  # as many as there are workers

    class Shared(DaskEngine):
        def __init__(self, jobs, options=""):
            super().__init__(jobs, options)
            self._client = client

    check(Shared)


SAVED = "--memory 1MB --block-size 8KB -o out/a.arff --save out/saved.fk"


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("--memory 1MB --block-size 10KB digits.arff select --by ig --top 9 shuffle sample --fraction 1/2", 0),
        ("--memory 100KB --block-size 2KB n.arff.gz impute range", 0),
        ("--memory 100KB --block-size 2KB --load saved.fk part-?.arff", 0),
        ("--memory 100KB --block-size 2KB broken.arff standardize", 1),
        ("--memory 100KB --block-size 2KB --rejects out/rejects.arff broken.arff l2", 0),
        ("--memory 16KB --block-size 2KB n.arff shape bns l2", 0),  # rows are read again
        ("--block-size 2KB --test part-1.arff out/other.arff --save out/saved.fk -o out/a.arff n.arff shape bns", 0),
        (
            f"{SAVED} n.arff balance shuffle --seed 3 sample --fraction 1/2 --seed 2 shape --cross-fit 5 rand --seed 4",
            0,
        ),
        (f"{SAVED} texts.arff words --keep 1000 tfidf select --by ig --top 500 l2", 0),
        (f"{SAVED} digits.arff shape bns standardize", 0),  # several classes
        ("--block-size 4KB -o out/part-*.parquet n.arff standardize", 0),
        ("--block-size 4KB -o out/part-*.csv.gz n.arff.gz bins onehot", 0),
        ("--block-size 4KB -o out/part-*.arff n.arff shuffle", 0),
        ("--block-size 4KB -o out/part-*.arff broken.arff l2", 1),
    ],
)
def test_rows_files_and_messages_are_those_of_threads(folder, scheduler, line, status):
    found = assert_same(folder, scheduler, line, status)
    assert len(found[0]) > 2 or "out/part" not in line


def test_no_statistic_comes_to_the_process_that_asks(client):
    statistics = []

    class Watched(DaskEngine):
        def _wait_for_result(self, task):
            result = super()._wait_for_result(task)
            replace_parts(result, Statistic, statistics.append)
            return result

    digits = filterkit.chain("keep --range 20-40,65").fit_transform(filterkit.read(SAMPLES / "digits.arff"))[1]
    chain = filterkit.chain("bns l2")
    _, found = chain.fit_transform(iter(cut(digits, 100)), engine=Watched.of(client), memory=100_000)
    assert testing.same(found, chain.fit_transform(digits)[1])
    assert not statistics


def test_workers_get_the_plugins_that_only_the_user_has(folder, scheduler):
    os.rename(folder / "away" / "plugin.py", folder / "plugin.py")
    line = "--plugin plugin.py --memory 100KB --block-size 2KB -o out/a.arff n.arff"
    assert_same(folder, scheduler, f"{line} doubled")
    refused = assert_same(folder, scheduler, f"{line} refuse", 1)
    assert refused[2] == "filterkit: refuse: n.arff: row 1501: 1500 is too many\n"
    found, status, message, _ = outcome(folder, f"dask:{scheduler}", f"{line} die")
    assert (found, status) == ({}, 1)
    assert re.fullmatch(
        r"filterkit: n\.arff, bytes \d+ to \d+: the Dask workers that worked on this were killed, 4 of them one after "
        r"the other; give each more memory\n",
        message,
    )
    assert outcome(folder, f"dask:{scheduler}", f"{line} l2")[1] == 0  # those that were killed load it again
    (folder / "plugin.py").write_text(PLUGIN + "\n")
    message = outcome(folder, f"dask:{scheduler}", f"{line} l2")[2]
    assert "plugin.py: a worker has loaded another file of this name before; restart the workers" in message


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("killed-in-fit", "-o out/part-*.arff --block-size 4KB n.arff killed-in-fit shape"),
        ("killed-in-writing", "-o out/part-*.arff --block-size 4KB n.arff killed-in-writing l2"),
        ("killed-in-evaluate", "evaluate iris.arff --folds 10 --chain 'killed-in-evaluate neighbors'"),
    ],
)
def test_a_worker_that_is_killed_in_a_run_changes_nothing(folder, client, scheduler, tmp_path, name, line):
    marker, plugin = tmp_path / "killed", tmp_path / f"{name}.py"
    plugin.write_text(KILLING.format(marker=str(marker), name=name))
    assert not assert_same(folder, scheduler, f"--plugin {plugin} {line}")[2]
    assert marker.exists()


@pytest.mark.parametrize("jobs", [0, 1.5])
def test_a_senseless_number_of_jobs_is_refused(jobs):
    with pytest.raises(filterkit.UsageError, match=f"^jobs must be a whole number of at least 1, not '{jobs}'$"):
        DaskEngine(jobs)


def test_a_cluster_without_workers_is_an_error(monkeypatch):
    options = {"dashboard_address": "127.0.0.1:0", "scheduler_kwargs": {"dashboard": False}}
    with (
        distributed.LocalCluster(n_workers=1, processes=False, **options) as cluster,
        distributed.Client(cluster) as client,
        DaskEngine.of(client) as engine,
    ):
        results = engine.map(abs, range(1000))
        assert next(results) == 0
        monkeypatch.setattr("filterkit_plugins.dask_engine.cluster._PATIENCE", 0.1)
        monkeypatch.setattr("filterkit_plugins.dask_engine.cluster._PAUSE", 0.1)
        cluster.sync(cluster.workers[0].close)
        for use in (lambda: list(results), lambda: list(engine.map_as_done(abs, [1]))):
            with pytest.raises(filterkit.FilterkitError, match="all Dask workers are lost"):
                use()


@pytest.mark.posix
def test_ctrl_c_while_fitting_leaves_no_process_and_no_file(folder, tmp_path):
    plugin, marker = tmp_path / "waiting.py", tmp_path / "waiting"
    plugin.write_text(WAITING.format(marker=str(marker)))
    (tmp_path / "tmp").mkdir()
    words = ["--engine", "dask", "--jobs", "1", "--plugin", plugin, "-o", tmp_path / "out.arff", "n.arff"]
    environment = os.environ | {"TMPDIR": str(tmp_path / "tmp")}
    begun = start(*words, "wait", "shape", cwd=folder, env=environment, stderr=subprocess.PIPE, start_new_session=True)
    try:
        wait_for(lambda: marker.exists() or begun.poll() is not None)
        worker = int(marker.read_text())
        os.killpg(begun.pid, signal.SIGINT)
        _, message = begun.communicate(timeout=200)
    finally:
        begun.kill()
        begun.wait()
    assert (begun.returncode, message) == (130, b"")
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)
    assert {each.name for each in tmp_path.iterdir()} - {"__pycache__"} == {"tmp", "waiting", "waiting.py"}
    assert not list((tmp_path / "tmp").iterdir())


def test_web_servers_are_read_by_the_workers_if_they_send_parts(folder, scheduler):
    asked = []

    class Server(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            wanted = re.match(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            if wanted is None:
                return super().do_GET()
            text = pathlib.Path(self.translate_path(self.path)).read_bytes()
            first, last = int(wanted[1]), min(int(wanted[2] or len(text)), len(text) - 1)
            asked.append(first)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(text)}")
            self.send_header("Content-Length", str(last + 1 - first))
            self.end_headers()
            self.wfile.write(text[first : last + 1])

        def log_message(self, *_):
            pass

    class Whole(Server):
        do_GET = http.server.SimpleHTTPRequestHandler.do_GET

    expected = outcome(folder, "local", "n.arff standardize")
    for handler in (Server, Whole):
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a, h=handler: h(*a, directory=folder)) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{server.server_port}/n.arff"
            assert outcome(folder, f"dask:{scheduler}", f"--block-size 8KB {url} standardize") == expected
            server.shutdown()
    assert len([first for first in asked if first > 4096]) >= 2


def test_the_engine_starts_workers_of_its_own_and_leaves_nothing(folder, tmp_path):
    line = "--jobs 2 -o out/a.arff n.arff range"
    found = outcome(folder, "dask", line, env=os.environ | {"TMPDIR": str(tmp_path)})
    assert found == outcome(folder, "local", line) and found[1:3] == (0, "")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("error", [RuntimeError("Nanny failed to start."), OSError(24, "Too many open files")])
def test_workers_that_cannot_be_started_are_an_error_and_leave_nothing(error, monkeypatch, tmp_path):
    def fail(**_):
        raise error

    monkeypatch.setattr("filterkit_plugins.dask_engine.cluster.LocalCluster", fail)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(filterkit.FilterkitError, match=r"^--engine dask: the workers cannot be started \(.*(N|T)"):
        list(DaskEngine(2).map(len, ["a", "b"]))
    assert not list(tmp_path.iterdir())


def test_a_scheduler_that_is_not_there_is_an_error_at_once(folder):
    (folder / "broken.json").write_text("{}")
    for options, message in (
        ("nowhere.json", "there is no scheduler file nowhere.json"),
        ("tcp://127.0.0.1:1", "no scheduler answers at tcp://127.0.0.1:1 ([Errno "),
        ("tcp://127.0.0.1", "no scheduler answers at tcp://127.0.0.1 (missing port number"),
        ("tcp://nowhere.invalid:8786", "no scheduler answers at tcp://nowhere.invalid:8786 ([Errno "),
        ("ftp://a:1", "no scheduler answers at ftp://a:1 (unknown address scheme"),
        ("broken.json", "no scheduler answers at broken.json (it has no address)"),
    ):
        assert message in refusal(f"--engine dask:{options} n.arff l2", status=1, cwd=folder, **DASK)


def test_a_client_that_the_user_holds_is_an_engine(client):
    data, chain = filterkit.read(SAMPLES / "iris.arff"), filterkit.chain("shape bns l2")
    expected = chain.fit_transform(data)[1].X
    for engine in (client, f"dask:{client.scheduler.address}"):
        assert chain.fit(data, engine=engine).transform(data).X.tobytes() == expected.tobytes()
        assert chain.fit_transform(iter([data]), engine=engine)[1].X.tobytes() == expected.tobytes()
    assert client.status == "running"


def test_what_no_engine_works_on_is_refused(client):
    data, chain = filterkit.read(SAMPLES / "iris.arff"), filterkit.chain("l2")
    for thing in (None, 2, distributed.Client):
        with pytest.raises(filterkit.UsageError, match=r"^engine must be an engine, a text such as 'processes', or "):
            chain.fit(data, engine=thing)
    with distributed.Client(client.scheduler.address) as other:
        pass
    with pytest.raises(filterkit.UsageError, match=r"^engine: the client of Dask is closed, not running; pass one"):
        chain.fit(data, engine=other)

    async def fit():
        async with distributed.Client(client.scheduler.address, asynchronous=True) as other:
            chain.fit(data, engine=other)

    with pytest.raises(filterkit.UsageError, match=r"^engine: the client of Dask is asynchronous"):
        asyncio.run(fit())


@pytest.mark.posix
def test_certificates_of_dasks_settings_are_used(tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes certificates, is not installed")
    for name in ("own", "other"):
        words = f"openssl req -x509 -newkey rsa:2048 -nodes -keyout {name}.key -out {name}.pem -subj /CN={name}"
        subprocess.run(words.split(), cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "away").mkdir()
    (tmp_path / "n.arff").write_text(arff_of_numbers(300))

    def environment(name):
        found = os.environ | {"DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(tmp_path / f"{name}.pem")}
        for role in ("SCHEDULER", "WORKER", "CLIENT"):
            for file, ending in (("CERT", "pem"), ("KEY", "key")):
                found[f"DASK_DISTRIBUTED__COMM__TLS__{role}__{file}"] = str(tmp_path / f"{name}.{ending}")
        return found

    with scheduled(tmp_path, 1, "--protocol", "tls", env=environment("own")) as file:
        address = json.loads(pathlib.Path(file).read_text())["address"]
        assert address.startswith("tls://")
        line = f"--engine dask:{address} n.arff l2"
        text = output(line, cwd=tmp_path, env=environment("own"))
        assert text.partition("@data")[2] == output("n.arff l2", cwd=tmp_path).partition("@data")[2]
        lacks = f"{address} needs certificates; Dask's settings distributed.comm.tls name their files"
        for settings, message in (
            (dict(os.environ), lacks),
            (environment("none"), lacks),
            (environment("other"), f"no scheduler answers at {address} ("),
        ):
            assert message in refusal(line, status=1, cwd=tmp_path, env=settings)


def test_a_scheduler_that_the_environment_names_is_used_or_missed_at_once(folder, scheduler):
    address = json.loads(pathlib.Path(scheduler).read_text())["address"]
    right, wrong = (os.environ | {"DASK_SCHEDULER_ADDRESS": each} for each in (address, "tcp://127.0.0.1:1"))
    found = outcome(folder, "dask", "n.arff l2", env=right)
    assert found == outcome(folder, "local", "n.arff l2") and found[1:3] == (0, "")
    message = refusal("--engine dask n.arff l2", status=1, cwd=folder, env=wrong)
    assert "no scheduler answers at tcp://127.0.0.1:1 (" in message


def test_workers_with_other_versions_are_refused():
    class Client:
        def run(self, function):
            return {"tcp://a": function(), "tcp://b": function() | {"numpy": "1.0"}}

    ours = find_library_versions()["numpy"]
    with pytest.raises(filterkit.FilterkitError, match=f"worker tcp://b has numpy 1.0, and this process has {ours}"):
        check_worker_versions(Client())


def test_without_distributed_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "filterkit_plugins.dask_engine.cluster", None)
    with pytest.raises(
        filterkit.UsageError, match=r"needs the package distributed: pip install 'arff-filterkit\[dask]'"
    ):
        next(DaskEngine(2).map(str, [1]))
