"""Schemas of filterkit, noted in the metadata of Arrow tables and data frames."""

from __future__ import annotations

import json
from collections.abc import Mapping

from filterkit.data.schema import Schema
from filterkit.data.schema_json import schema_from_json, schema_to_json
from filterkit.errors import FilterkitError

# Where a table of Arrow notes the schema of filterkit, and the column with the weights of rows.
_SCHEMA, _WEIGHTS = b"filterkit.schema", b"filterkit.weights"


def noted(schema: Schema, weights: str | None = None) -> dict[bytes, bytes]:
    """The metadata of an Arrow schema that tell a schema of filterkit, and the name of the column of weights if any."""
    metadata = {_SCHEMA: json.dumps(schema_to_json(schema)).encode("utf-8", "surrogatepass")}
    return metadata if weights is None else metadata | {_WEIGHTS: weights.encode()}


def schema_noted(metadata: Mapping[bytes, bytes] | None) -> tuple[Schema | None, str | None]:
    """The schema and the name of the column of weights that `noted` wrote into metadata; None for what is not there."""
    metadata = metadata or {}
    weights = metadata.get(_WEIGHTS, b"").decode("utf-8", "replace") or None
    try:
        return schema_from_json(json.loads(metadata[_SCHEMA])), weights
    except (KeyError, ValueError, RecursionError, FilterkitError):  # it was not written by filterkit, or was changed
        return None, weights
