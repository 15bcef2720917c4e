"""The local engine: look-ahead, threads and interrupts. The kit holds what is asked of every engine."""

import threading

import pytest

from filterkit.engines.local import LocalEngine

JOBS = [1, 3]


def test_one_item_or_job_needs_no_thread():
    for jobs, items in ((2, [1]), (1, range(5))):
        assert set(LocalEngine(jobs).map(lambda _: threading.current_thread(), items)) == {threading.main_thread()}


@pytest.mark.parametrize("jobs", JOBS)
def test_only_some_items_are_taken_ahead(jobs):
    taken = 0

    def items():
        nonlocal taken
        for i in range(1000):
            taken += 1
            yield i

    results = LocalEngine(jobs).map(lambda i: i, items())
    assert max(taken - next(results) for _ in range(50)) <= 2 * jobs
    results.close()


@pytest.mark.parametrize("jobs", JOBS)
def test_no_work_begins_before_results_are_asked_for(jobs):
    done = []
    results = LocalEngine(jobs).map(done.append, range(3))
    assert done == []
    list(results)
    assert sorted(done) == [0, 1, 2]


def test_two_jobs_run_at_once_in_threads_of_their_own():
    both = threading.Barrier(2, timeout=60)

    def work(_):
        both.wait()
        return threading.current_thread()

    threads = set(LocalEngine(2).map(work, range(4)))
    assert threading.current_thread() not in threads
    assert len(threads) == 2


def test_threads_end_with_the_results_even_if_they_are_not_all_taken():
    before = set(threading.enumerate())
    results = LocalEngine(2).map(lambda i: i, range(100))
    assert next(results) == 0
    assert set(threading.enumerate()) > before
    results.close()
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("signal", [KeyboardInterrupt, SystemExit])
def test_a_signal_does_not_wait_for_running_work(signal):
    released = threading.Event()

    def items():
        yield from range(3)
        raise signal  # as a handler does in the thread that waits

    try:
        with pytest.raises(signal):
            list(LocalEngine(2).map(lambda _: released.wait(60), items()))
        assert not released.is_set()
    finally:
        released.set()


@pytest.mark.parametrize("told", [False, True])
def test_an_interrupt_in_the_consumer_does_not_wait_for_long_work(told, monkeypatch):
    ending = threading.Event()
    monkeypatch.setattr("filterkit.engines.local.ending", ending)
    release, finished = threading.Event(), threading.Event()

    def work(i):
        if i == 1:
            release.wait(60)
            finished.set()
        return i

    def consume():
        for _ in LocalEngine(2).map(work, range(9)):
            if told:
                ending.set()  # as the handler of a signal does
            else:
                threading.Timer(0.2, release.set).start()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        consume()
    assert finished.is_set() != told
    release.set()
