"""Native calls that a signal interrupts."""

import os
import signal
import threading

import numpy as np
import pytest
from agreement import make

import filterkit
from filterkit.plugin import call_interruptibly


@pytest.fixture
def stuck():
    """A function that sends this process a signal and then does not come back, as native code may not; such code would
    hold up the main thread."""
    released = threading.Event()

    def function(*_, **__):
        assert threading.current_thread() is not threading.main_thread()
        os.kill(os.getpid(), signal.SIGINT)
        released.wait(60)

    yield function
    released.set()


def test_the_result_or_the_error_of_the_call_comes_out():
    assert call_interruptibly(divmod, 7, 3) == (2, 1)
    with pytest.raises(ZeroDivisionError):
        call_interruptibly(divmod, 7, 0)


def test_the_call_is_in_another_thread_and_numpys_settings_are_there():
    with np.errstate(over="raise"):
        thread, settings = call_interruptibly(lambda: (threading.current_thread(), np.geterr()))
    assert thread is not threading.main_thread()
    assert settings["over"] == "raise"


def test_outside_the_main_thread_it_is_a_plain_call():
    found = []
    thread = threading.Thread(target=lambda: found.append(call_interruptibly(threading.current_thread)))
    thread.start()
    thread.join()
    assert found == [thread]


def test_where_nothing_handles_signals_it_is_a_plain_call(monkeypatch):
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.SIG_DFL)
    assert call_interruptibly(threading.current_thread) is threading.main_thread()


@pytest.mark.parametrize(
    ("text", "native"),
    [
        ("svm", "sklearn.svm.SVC.fit"),
        ("normal --model logistic", "sklearn.linear_model.LogisticRegression.fit"),
        ("sklearn --class sklearn.preprocessing.PowerTransformer", "sklearn.preprocessing.PowerTransformer.fit"),
    ],
)
def test_ctrl_c_ends_the_fit_of_a_stage(text, native, stuck, monkeypatch):
    monkeypatch.setattr(native, stuck)
    with pytest.raises(KeyboardInterrupt):
        filterkit.chain(text).fit(make(np.arange(12.0)[:, None], [0, 1, 1] * 4))


@pytest.mark.parametrize(
    ("text", "native"),
    [
        ("neighbors", "scipy.spatial.distance.cdist"),
        ("sklearn --class sklearn.preprocessing.PowerTransformer", "sklearn.preprocessing.PowerTransformer.transform"),
    ],
)
def test_ctrl_c_ends_the_transform_of_a_stage(text, native, stuck, monkeypatch):
    batch = make(np.arange(12.0)[:, None], [0, 1, 1] * 4)
    fitted = filterkit.chain(text).fit(batch)
    monkeypatch.setattr(native, stuck)
    with pytest.raises(KeyboardInterrupt):
        fitted.transform(batch)
