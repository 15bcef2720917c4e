"""The shares of `--memory`, which bounds what is held between passes over the rows.

The batches in work, two for each thread and four with Dask, come on top, and so does what stages have learned.
"""

DEFAULT_MEMORY = 1 << 30  # bytes

# Each bounds what is held to the memory divided by it.
SPOOL_DIVISOR = 8  # batches in a spool; later ones go to a temporary file
WORKER_SPOOL_DIVISOR = 2  # batches on a worker, for which there is no such file; if they are more, all are read again
STATISTIC_DIVISOR = 8  # the statistic of columns from one pass; further columns need another pass
STAGE_DIVISOR = 4  # what a stage holds that reads the batches itself, such as a learner
