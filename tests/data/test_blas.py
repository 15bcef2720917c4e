"""One thread of BLAS."""

from concurrent.futures import ThreadPoolExecutor

import numpy  # noqa: F401 - it loads BLAS
from threadpoolctl import ThreadpoolController, threadpool_limits

from filterkit.data.blas import one_blas_thread


def threads():
    return {each.num_threads for each in ThreadpoolController().lib_controllers if each.user_api == "blas"}


def test_blas_has_one_thread_also_where_another_thread_of_python_asked_for_it_before():
    def work():
        with threadpool_limits(3, "blas"):
            before = threads()
            with one_blas_thread():
                return before, threads()

    with one_blas_thread():
        pass
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(work).result() == ({3}, {1})
