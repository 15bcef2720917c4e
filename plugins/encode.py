"""Turn nominal attributes into numbers, and a class of many values into one of two."""

from __future__ import annotations

import numpy as np

from filterkit import Batch, Built, FilterkitError, Schema, Stage, UsageError, option
from filterkit.plugin import (
    NAME_A_CLASS,
    Attributes,
    Csr,
    Edit,
    SelectiveStage,
    State,
    Texts,
    expand_ranges,
    offer,
    parse_number,
    quoted,
    suggestion,
)


class OneHot(SelectiveStage):
    """Turn each nominal attribute into numeric 0/1 attributes, as Weka's NominalToBinary does.

        filterkit arff_samples/mixed.arff onehot --only reason

    An attribute with more than two labels becomes one column ``name=label`` for each label. With at most two labels it
    becomes one column of the same name, which holds the index of the label, 0 or 1. A missing value is missing in every
    column. Sparse rows stay sparse, although the first label of an attribute, which they did not store, becomes a 1.
    The class stays as it is.
    """

    name = "onehot"
    known_as = "dummies getdummies"
    group = "Encode values"
    mends = "nominal columns"

    def build(self, schema: Schema, state: State) -> Built:
        many = schema.label_counts > 2
        width = np.where(many, schema.label_counts, 1)  # how many columns each column becomes
        first = np.cumsum(width) - width
        source = np.repeat(np.arange(schema.width), width)  # the incoming column of each outgoing one
        # The label of each outgoing column, -1 if it takes the values as they are.
        label = np.where(many[source], np.arange(len(source)) - first[source], -1)
        features = Attributes.of(schema.features)
        names = list(features.names.take(source))
        for column in np.flatnonzero(label >= 0).tolist():
            names[column] += f"={features[source[column]].values[label[column]]}"
        attributes = features.take(source, Texts.of(names)).as_numeric().drop_scores(chosen=label >= 0)
        outgoing = schema.with_features(attributes, source)

        def encode_batch(batch: Batch) -> Batch:
            if batch.sparse:
                return batch.replace(schema=outgoing, X=encode_sparse_rows(batch.csr))
            image = batch.X[:, source]
            same = (label < 0) | np.isnan(image)
            return batch.replace(schema=outgoing, X=np.where(same, image, (image == label).astype(np.float64)))

        def encode_sparse_rows(X: Csr) -> Csr:
            stays = ~many[X.indices]
            several = np.flatnonzero(many)
            codes = X.select_columns(several).toarray()  # with the first label, which is not stored
            missing = np.isnan(codes)
            counts = np.where(missing, width[several], 1)  # a missing value becomes one in every column
            begins = first[several] + np.where(missing, 0, codes).astype(np.int64)
            entries = [
                (X.row_of_entry[stays], first[X.indices[stays]], X.data[stays]),
                (
                    np.repeat(np.arange(len(codes)), counts.sum(axis=1)),
                    expand_ranges(begins.ravel(), counts.ravel()),
                    np.repeat(np.where(missing, np.nan, 1.0), counts.ravel()),
                ),
            ]
            rows, columns, values = (np.concatenate(part) for part in zip(*entries))
            return Csr.from_entries(rows, columns, values, (X.shape[0], len(source)))

        return Built(outgoing, encode_batch, columns=source)


class BinarizeClass(Stage):
    """Make the class two-valued: one value against the rest, as Weka's MakeIndicator does.

        filterkit in.arff label --positive a shape

    The class gets the labels ``rest`` and V, in this order, where V is the value of `--positive`, which becomes the
    positive class. A missing class stays missing. A numeric class becomes nominal, too: ``label --positive 1`` makes
    rows of the class 1 positive.
    """

    name = "label"
    group = "Encode values"
    needs_class = True
    numeric_class = True

    positive: str = option("", "The class value to separate from the rest.")

    def __post_init__(self) -> None:
        if not self.positive:
            raise UsageError("label: say which class value, with --positive VALUE")

    def build(self, schema: Schema, state: State) -> Built:
        target = schema.class_attribute
        if target is None or schema.class_index is None:
            raise FilterkitError(f"there is no class attribute, which it needs; {NAME_A_CLASS}")
        if target.kind == "numeric":
            code = parse_number(self.positive)
            if code is None:
                raise FilterkitError(
                    f"class '{target.name}' is numeric, so --positive must be a number, not {quoted(self.positive)}"
                )
        elif self.positive in target.values:
            code = target.values.index(self.positive)
        else:
            hint = suggestion(self.positive, list(target.values)) or "; filterkit info FILE lists them"
            raise FilterkitError(f"class '{target.name}' has no value {quoted(self.positive)}{hint}")
        rest = "rest" if self.positive != "rest" else "the rest"
        edit = Edit(schema)
        new = target._replace(kind="nominal", values=(rest, self.positive))
        edit.change(schema.class_index, new, lambda batch: np.where(batch.class_known, batch.y == code, np.nan))
        return edit.build(positive=self.positive)


filterkit_stages = offer(BinarizeClass, OneHot)
