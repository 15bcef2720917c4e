"""What `explore` gathers of rows, as the page gets it."""

import orjson

from filterkit.chains.chain import Chain, open_training_rows
from filterkit.engines.local import LocalEngine
from filterkit.exploration.explore import explore
from filterkit.plugin.registry import get_registry


def explored(rows, chain="", by=(), best=50, memory=1 << 30):
    """What `explore` gathers of rows; all metrics by default."""
    return explore(rows, Chain.parse(chain).stages, by, best, get_registry(), memory)


def gathered(batches, chain="", by=(), best=50, memory=1 << 30, engine=None):
    """What the page of these rows shows, as JSON gives it back."""
    batches = batches if isinstance(batches, list) else [batches]
    with open_training_rows(batches, engine or LocalEngine(1), 1, memory) as rows:
        return as_json(explored(rows, chain, by, best, memory))


def as_json(found):
    """What `explore` found, as JSON gives it back."""
    return orjson.loads(orjson.dumps(found, lambda array: array.tolist(), option=orjson.OPT_SERIALIZE_NUMPY))
