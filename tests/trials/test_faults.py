"""The machine of faults: it finds nothing in a short run, and finds defects that are put in on purpose."""

import random
import signal
import sys

import pytest

from trials.faults import kinds
from trials.faults.jobs import JOBS, make_inputs
from trials.faults.machine import faults
from trials.faults.trial import COMMAND, Fault, Trials

pytestmark = [
    pytest.mark.separate,
    pytest.mark.posix,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc"),
]

ROWS = next(job for job in JOBS if job.name == "rows")
NONE = Fault("none", frozenset([0, 1]))


def test_a_few_faults_of_each_kind_do_no_harm():
    quick = ["rows", "load", "print", "pipe", "packed"]
    some = ["event", "moment", "stopped", "full", "limited", "closed", "changed", "cut", "unread"]
    counts, wrong = faults(1e9, 7, some, quick, tries=8)
    assert wrong == []
    assert sum(counts.values()) == 8
    assert len(counts) > 3


@pytest.mark.skipif(
    kinds.IS_ROOT and not kinds.nobody_can_run(), reason="root runs it as another user, who cannot enter this folder"
)
def test_folders_that_cannot_be_written_do_no_harm():
    assert faults(1e9, 7, ["read_only"], ["rows", "load"], tries=3) == ({"read_only": 3}, [])


def test_a_worker_that_is_killed_does_no_harm():
    counts, wrong = faults(1e9, 1, ["worker"], ["processes"], tries=2)
    assert wrong == []
    assert counts["worker"] == 2


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    """Makes a machine for a command that is given as text for a shell, in which "$@" is filterkit and its arguments."""
    base = tmp_path_factory.mktemp("trials")
    path = base / "command"
    path.touch(0o755)
    (base / "given").mkdir()
    make_inputs(base / "given", 500)
    machines = {}
    for patience in (10, 60):  # 10 s are enough for the command itself on a loaded machine
        (base / str(patience)).mkdir()
        machines[patience] = Trials(base / str(patience), base / "given", str(path), patience, 0.5)

    def making(text):
        path.write_text(f'#!/bin/bash\nset -- {COMMAND} "$@"\n{text}\n')
        return machines[10 if text == "sleep 60" else 60]

    return making


@pytest.mark.parametrize(
    ("text", "earlier", "wanted"),
    [
        ('"$@"; touch "$TMPDIR/kept"', False, "kept is left in the temporary folder"),
        ('"$@"; echo more >> out.arff', False, "status 0, and out.arff is "),
        ("true", False, "status 0, and out.arff is "),
        ('echo "filterkit: unexpected KeyError" >&2; exit 1', False, "status 1: 'filterkit: unexpected KeyError"),
        ('printf "filterkit: a\\nb\\nc\\n" >&2; exit 1', False, "the message is 'filterkit: a"),
        ("exit 3", False, "status 3 and not [0, 1]"),
        ("kill -SEGV $$", False, "status -11 and not [0, 1]"),
        ("sleep 60", False, "it has not ended after 10 s"),
        ('sleep 60 & exec "$@"', False, "left: 1 processes"),
        ("rm out.arff; exit 1", True, "out.arff is "),
        ("echo half > out.arff; exit 1", True, "out.arff is "),
    ],
)
def test_a_defect_is_found(text, earlier, wanted, trials):
    """`earlier` is whether there is a file already that the command is to replace."""
    found = trials(text).wrong(ROWS, NONE, earlier)
    assert any(wanted in line for line in found), found


def test_the_command_itself_is_without_defects(trials):
    assert trials('exec "$@"').wrong(ROWS, NONE, True) == []


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_what_a_signal_leaves_is_found(name, trials):
    """The command writes to the name of its output at once, and only then heeds SIGTERM, for which the signal waits."""
    machine = trials(
        'echo half > out.arff; touch .filterkit-1; trap "exit 143" TERM; [[ -e out.txt ]] || sleep 3 & wait'
    )
    number = int(getattr(signal, name))

    def act(process, _):
        process.send_signal(number)

    statuses = frozenset([-9] if name == "SIGKILL" else [143])
    found = machine.wrong(ROWS, Fault(name, statuses, act=act, killed=name == "SIGKILL"), True)
    assert any("out.arff is 5 bytes" in line for line in found), found


def test_each_kind_makes_faults(trials):
    machine = trials('exec "$@"')
    rng = random.Random(1)
    for name, kind in kinds.KINDS.items():
        made = [kind(rng, machine, ROWS) for _ in range(30)]
        names = {fault.name for fault in made if fault is not None}
        of_root = name in ("full", "read_only") and not (kinds.IS_ROOT and kinds.nobody_can_run())
        assert len(names) > 3 or of_root or name == "worker"
