"""The shares of `--memory`, which bounds what is held between passes over the rows.

The batches in work, two for each thread, come on top, and so does what stages have learned.
"""

DEFAULT_MEMORY = 1 << 30  # bytes

# The memory is divided by these numbers. A spool holds so many bytes of batches in memory, before later batches go to a
# temporary file; the statistic of columns takes so many in one pass, and columns beyond that need another pass; and so
# many may a stage hold that reads the batches itself, such as a learner.
SPOOL_DIVISOR = 8
STATISTIC_DIVISOR = 8
STAGE_DIVISOR = 4
