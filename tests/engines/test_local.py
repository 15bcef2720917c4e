"""The local engine: order, look-ahead, errors in place."""

import threading
import time

import pytest

from filterkit.engines.local import LocalEngine

JOBS = [1, 3]


@pytest.mark.parametrize("jobs", JOBS)
def test_results_come_in_the_order_of_items(jobs):
    def slower_at_first(i):
        time.sleep(0.002 * (20 - i) if i < 20 else 0)
        return i * i

    assert list(LocalEngine(jobs).map(slower_at_first, range(40))) == [i * i for i in range(40)]


@pytest.mark.parametrize("jobs", JOBS)
def test_an_exception_is_raised_in_place_of_its_result(jobs):
    def fail_at_seven(i):
        if i == 7:
            raise ValueError("seven")
        time.sleep(0.002)
        return i

    results = LocalEngine(jobs).map(fail_at_seven, range(100))
    assert [next(results) for _ in range(7)] == list(range(7))
    with pytest.raises(ValueError, match="seven"):
        next(results)


@pytest.mark.parametrize("jobs", JOBS)
@pytest.mark.parametrize("before", [0, 5])
def test_an_exception_of_the_items_follows_the_results_before_it(jobs, before):
    def items():
        yield from range(before)
        raise ValueError("no more")

    results = LocalEngine(jobs).map(lambda i: i, items())
    assert [next(results) for _ in range(before)] == list(range(before))
    with pytest.raises(ValueError, match="no more"):
        next(results)


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
    ahead = []
    for consumed, _ in enumerate(results):
        ahead.append(taken - consumed)
        if consumed == 50:
            break
    results.close()
    assert max(ahead) <= 2 * jobs
    assert taken < 60


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
