"""Converting attributes and schemas to JSON and back, also as notes in the metadata of Arrow tables and data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from filterkit.data.attributes import MANY, Attribute, Attributes, ManyOrFew
from filterkit.data.losses import is_exact
from filterkit.data.schema import DEEPEST, KINDS, Schema
from filterkit.errors import FilterkitError

_PLAIN = Attribute("")[1:]
# The keys in the metadata of an Arrow table of filterkit's schema, and of the name of the column of weights.
_SCHEMA, WEIGHTS_KEY = b"filterkit.schema", b"filterkit.weights"


def attribute_to_json(attribute: Attribute) -> Any:
    """Return an attribute as JSON: its name if it is numeric with weight 1 and no scores, else a list of its fields."""
    if attribute[1:] == _PLAIN:
        return attribute.name
    return [*attribute[:4], [attribute_to_json(a) for a in attribute.attributes], attribute.weight, attribute.scores]


def attribute_from_json(value: Any, depth: int = 0) -> Attribute:
    """Return the attribute of which `attribute_to_json` made this JSON value; raise FilterkitError for other values.

    `depth` is the number of relational attributes that contain it, at most `DEEPEST`.
    """
    if isinstance(value, str):
        return Attribute(value)
    try:
        name, kind, values, form, attributes, weight, scores = value
        if depth > DEEPEST:
            raise FilterkitError(f"an attribute in the schema is nested more than {DEEPEST} deep")
        inner = tuple(attribute_from_json(each, depth + 1) for each in attributes)
        pairs = tuple((metric, score) for metric, score in scores)
    except (TypeError, ValueError):
        raise FilterkitError("an attribute in the schema lacks a part, or has one of another type") from None
    texts = [name, form, *values, *(metric for metric, _ in pairs)]
    numbers = [weight, *(score for _, score in pairs)]
    if kind not in KINDS or not isinstance(values, list) or not all(isinstance(text, str) for text in texts):
        raise FilterkitError("an attribute in the schema has an unknown type, or values that are not texts")
    if not all(type(number) is float or (type(number) is int and is_exact(number)) for number in numbers):
        raise FilterkitError("an attribute in the schema has a weight or score that is not a number")
    return Attribute(name, kind, tuple(values), form, inner, weight, pairs)


def attributes_to_json(attributes: Sequence[Attribute]) -> list[Any]:
    """Return attributes as a list that ``json`` can write: for each attribute, what `attribute_to_json` returns."""
    if isinstance(attributes, Attributes):
        found: list[Any] = list(attributes.names)
        for position in np.flatnonzero(~attributes.is_numeric_without_weight_or_scores).tolist():
            found[position] = attribute_to_json(attributes[position])
        return found
    return [attribute_to_json(each) for each in attributes]


def attributes_from_json(values: Any) -> ManyOrFew:
    """Return the attributes of which `attributes_to_json` made this list; raise FilterkitError for other elements."""
    attributes = map(attribute_from_json, values)
    return Attributes.of(attributes) if len(values) >= MANY else tuple(attributes)


def schema_to_json(schema: Schema) -> dict[str, Any]:
    """Return a schema as a dictionary that ``json`` can write."""
    return {
        "relation": schema.relation,
        "class": schema.class_index,
        "positive": schema.positive,
        "sparse": schema.sparse,
        "zero": schema.zero,
        "labels": list(schema.labels),
        "attributes": attributes_to_json(schema.attributes),
    }


def schema_from_json(value: Any) -> Schema:
    """Return the schema of which `schema_to_json` made this dictionary; raise FilterkitError for other values."""
    try:
        relation, index, positive = value["relation"], value["class"], value["positive"]
        sparse, zero, labels = value["sparse"], value["zero"], value.get("labels", [])
        attributes = attributes_from_json(value["attributes"])
    except (TypeError, KeyError) as error:
        raise FilterkitError(f"the schema lacks a part, or has one of another type ({error})") from None
    texts = isinstance(relation, str) and (positive is None or isinstance(positive, str))
    if not texts or not isinstance(sparse, bool) or not isinstance(zero, bool):
        raise FilterkitError("the schema has a relation, positive value, sparse or zero of another type")
    if index is not None and not (type(index) is int and 0 <= index < len(attributes)):
        raise FilterkitError(f"the schema has no attribute {index} for the class")
    if not isinstance(labels, list) or not all(type(i) is int and 0 <= i < len(attributes) for i in labels):
        raise FilterkitError("the schema has labels that are not indices of attributes")
    if labels and (index is not None or sorted(set(labels)) != labels):
        raise FilterkitError("the schema has a class beside labels, or labels that do not ascend")
    return Schema(relation, attributes, index, positive, sparse, zero, tuple(labels))


def make_schema_metadata(schema: Schema, weights: str | None = None) -> dict[bytes, bytes]:
    """Return Arrow metadata with a schema as JSON and, unless it is None, the name of the column of `weights`."""
    import json  # here, because a run from ARFF to ARFF does not need it

    metadata = {_SCHEMA: json.dumps(schema_to_json(schema)).encode("utf-8", "surrogatepass")}
    return metadata if weights is None else metadata | {WEIGHTS_KEY: weights.encode()}


def read_schema_metadata(metadata: Mapping[bytes, bytes] | None) -> tuple[Schema | None, str | None]:
    """Return the schema, and the name of the column of weights, that `make_schema_metadata` put into metadata.

    Either is None if the metadata lack it, or are None; a schema that cannot be read is None, too.
    """
    import json

    metadata = metadata or {}
    weights = metadata.get(WEIGHTS_KEY, b"").decode("utf-8", "replace") or None
    try:
        return schema_from_json(json.loads(metadata[_SCHEMA])), weights
    except (KeyError, ValueError, RecursionError, FilterkitError):  # it was not written by filterkit, or was changed
        return None, weights


# The names of these functions in older plugins.
noted, schema_noted = make_schema_metadata, read_schema_metadata
