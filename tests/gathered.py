"""What `explore` gathers of rows, as the page gets it."""

import orjson

from filterkit.chains.chain import Chain
from filterkit.chains.rows import rows_of
from filterkit.engines.local import LocalEngine
from filterkit.exploration.explore import Request, explore
from filterkit.plugin.registry import registry


def gathered(batches, chain="", by=(), best=50, memory=1 << 30, engine=None):
    """What the page of these rows shows, as JSON gives it back."""
    batches = batches if isinstance(batches, list) else [batches]
    request = Request(Chain.parse(chain).stages, by, best, registry(), memory)
    with rows_of(batches, engine or LocalEngine(1), memory // 8) as rows:
        found = explore(rows, request)
    packed = orjson.dumps(found, lambda array: array.tolist(), option=orjson.OPT_SERIALIZE_NUMPY)
    return orjson.loads(packed)
