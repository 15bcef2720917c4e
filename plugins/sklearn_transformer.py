"""Any scikit-learn transformer as a stage."""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from filterkit import Attribute, Batch, FilterkitError, Fitted, Schema, Stage, StageError, UsageError, hookimpl, option
from filterkit.plugin import Batches, Csr, SelectiveStage, all_rows, interruptible, quoted, suggestion


class Sklearn(SelectiveStage):
    """Transform rows by a scikit-learn transformer that is fitted on the training rows.

        filterkit in.arff sklearn --class sklearn.preprocessing.PowerTransformer --set standardize=False

    This serves in place of Weka's KernelFilter and Center. For principal components and random projections, ``svd`` and
    ``project`` take less memory, and give the same bytes for any block size.

    The attributes must be numeric; put ``onehot`` before it where they are not, and ``impute`` if the transformer takes
    no missing values. ``fit`` gets the class, but not the instance weights. The training rows are held in memory. The
    transformer names the columns that it puts out, and decides whether they are sparse. The last digits of transformers
    that multiply matrices, such as PCA, may depend on the block size. Only classes of scikit-learn are accepted; a
    plugin can derive a stage from this one that accepts others, with other `modules`.
    """

    name = "sklearn"
    fills_missing = True  # some transformers fill them
    group = "Rescale and fill columns"
    modules: ClassVar[tuple[str, ...]] = ("sklearn",)

    class_: str = option("", "Class of the transformer, as sklearn.preprocessing.PowerTransformer.")
    set: tuple[str, ...] = option(
        (), "A parameter, as standardize=False; a value that is no Python literal is taken as text."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.class_:
            raise UsageError(f"{self.name}: say which, with --class, as sklearn.preprocessing.PowerTransformer")
        if self.class_.partition(".")[0] not in self.modules:
            raise UsageError(f"{self.name}: --class {quoted(self.class_)} is not of {' or '.join(self.modules)}")
        for pair in self.set:
            if not pair.partition("=")[0].isidentifier() or "=" not in pair:
                raise UsageError(f"{self.name}: --set must be like standardize=False, not {quoted(pair)}")

    def _estimator(self) -> Any:
        """The transformer, not yet fitted."""
        path, _, name = self.class_.rpartition(".")
        try:
            found = getattr(importlib.import_module(path), name)
        except (ImportError, ValueError) as error:
            raise StageError(self.name, f"--class {quoted(self.class_)}: {error}") from None
        except AttributeError:
            hint = suggestion(name, [n for n in dir(importlib.import_module(path)) if n[0].isupper()])
            raise StageError(self.name, f"--class: {path} has no '{name}'{hint}") from None
        # Refuse what a module of scikit-learn has merely imported from elsewhere.
        if not (isinstance(found, type) and found.__module__.partition(".")[0] in self.modules):
            raise StageError(self.name, f"--class {quoted(self.class_)} is no class of {' or '.join(self.modules)}")
        if not (hasattr(found, "fit") and hasattr(found, "transform")):
            raise StageError(self.name, f"--class {quoted(self.class_)} has no fit and transform")
        try:
            return found(**{key: _value(text) for key, _, text in (pair.partition("=") for pair in self.set)})
        except TypeError as error:
            raise StageError(self.name, f"--set: {error}") from None

    def fit(self, rows: Batches, schema: Schema) -> Fitted:
        schema.need_columns(self.name)
        estimator = self._estimator()
        nominal = [a.name for a in schema.features if a.kind == "nominal"]
        if nominal:
            raise StageError(self.name, f"attribute '{nominal[0]}' is nominal; put onehot before it, or remove")
        training = all_rows(self.name, rows(), schema, rows.memory)
        try:
            with self._named_warnings():
                interruptible(_fit, estimator, training)
            names = _names(estimator, [a.name for a in schema.features])
            return FittedSklearn(self.name, estimator, schema, names)
        except (ValueError, TypeError) as error:
            raise StageError(self.name, f"{self.class_}: {' '.join(str(error).split())[:300]}") from None

    @contextmanager
    def _named_warnings(self) -> Iterator[None]:
        """Make warnings name the stage and the class of the transformer."""
        import warnings

        with warnings.catch_warnings(record=True) as found:
            yield
        for text, category in {str(each.message): each.category for each in found}.items():
            warnings.warn(f"{self.name}: {self.class_}: {text}", category, stacklevel=1)

    def from_state(self, state: dict[str, Any], schema: Schema) -> Fitted:
        import base64

        skops_io = _skops_io()
        data = base64.b64decode(state["estimator"], validate=True)
        _check_size(data)
        # skops trusts classes of scikit-learn, scipy and numpy. These belong to them, but its list lacks them.
        found = skops_io.get_untrusted_types(data=data)
        trusted = [t for t in found if t == "numpy.dtype" or t.startswith("sklearn.feature_selection._univariate_")]
        estimator = skops_io.loads(data, trusted=trusted)
        if type(estimator) is not type(self._estimator()):
            raise FilterkitError(f"the transformer in it is no {self.class_}")
        return FittedSklearn(self.name, estimator, schema, state["names"])


def _check_size(data: bytes) -> None:
    """Refuse data that could take more memory than they are long: members that are compressed, overlap, or stand for
    several objects."""
    import json
    import zipfile

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if any(member.file_size != member.compress_size for member in members):
            raise FilterkitError("the transformer in it is compressed")
        objects: set[tuple[str, Any]] = set()  # file and number of each; objects of one number are read once

        def note(node: dict[str, Any]) -> None:
            if "file" in node:
                objects.add((str(node["file"]), node.get("__id__", len(objects))))

        json.loads(archive.read("schema.json"), object_hook=note)
    if sum(member.file_size for member in members) > len(data) or len({file for file, _ in objects}) < len(objects):
        raise FilterkitError("the transformer in it is larger than its file")


class FittedSklearn(Fitted):
    """A fitted transformer of scikit-learn."""

    def __init__(self, stage: str, estimator: Any, schema: Schema, names: list[str] | None) -> None:
        self._stage = stage
        self._estimator = estimator
        image = estimator.transform(_one_row(schema))
        self._sparse = not isinstance(image, np.ndarray)
        self._names = names if names is not None else [f"{stage}{j}" for j in range(image.shape[1])]
        if len(self._names) != image.shape[1]:
            raise ValueError(f"{len(self._names)} names for {image.shape[1]} columns")
        attributes = [Attribute(str(name)) for name in self._names]
        first = np.zeros(len(attributes), np.int64)  # they stand where the first column stood
        self.schema = schema.with_features(attributes, first, sparse=self._sparse, zero=self._sparse and schema.zero)

    def get_state(self) -> dict[str, Any]:
        import base64
        import zipfile

        try:
            skops_io = _skops_io()
        except UsageError as error:
            raise NotImplementedError(str(error)) from None
        data = skops_io.dumps(self._estimator, compression=zipfile.ZIP_STORED)
        return {"estimator": base64.b64encode(data).decode(), "names": [str(name) for name in self._names]}

    def transform(self, batch: Batch) -> Batch:
        try:  # a transformer refuses a batch without rows
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                image = interruptible(self._estimator.transform, batch.X if len(batch) else _one_row(batch.schema))
        except ValueError as error:
            raise StageError(self._stage, " ".join(str(error).split())[:300], batch.start) from None
        out = batch.replace(schema=self.schema, X=_form(image, self._sparse, len(batch)))
        self._check(batch, out)
        return out

    def _check(self, batch: Batch, out: Batch) -> None:
        """Refuse a row of numbers that has become another thing, as where squares are too large."""
        for number in np.flatnonzero(_are_numbers(batch) & ~_are_numbers(out))[:1].tolist():
            row = out.rows(number, number + 1).in_form(False).X[0]
            name = self._names[int(np.flatnonzero(~np.isfinite(row))[0])]
            raise StageError(
                self._stage,
                f"what becomes of the numbers is none in the column '{name}'; put range before it",
                batch.start + number,
            )


def _are_numbers(batch: Batch) -> np.ndarray:
    """bool (rows,): whether all values of a row are known and finite."""
    if not batch.sparse:
        return np.asarray(np.isfinite(batch.X).all(axis=1))
    bad = np.flatnonzero(~np.isfinite(batch.csr.data))
    known = np.ones(len(batch), bool)
    known[batch.csr.row_of_entry[bad]] = False
    return known


def _skops_io() -> Any:
    """The module `skops.io`, which reads transformers without running code that is in them.

    Raises
    ------
    UsageError : it is not installed.
    """
    try:
        import skops.io
    except ImportError:
        hint = "pip install 'arff-filterkit[skops]'"
        raise UsageError(f"a saved transformer of scikit-learn needs the package skops: {hint}") from None
    return skops.io


def _one_row(schema: Schema) -> Any:
    """A row of zeros."""
    width = schema.width
    if not schema.sparse:
        return np.zeros((1, width))
    return Csr(np.empty(0), np.empty(0, np.int32), np.zeros(2, np.int32), width).matrix()


def _form(image: Any, sparse: bool, rows: int) -> Any:
    """The first `rows` rows of what a transformer returned, as X of a batch."""
    if not sparse:
        return np.ascontiguousarray(image, np.float64)[:rows]
    from scipy.sparse import csr_array

    matrix = csr_array(image, dtype=np.float64)[:rows]
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return Csr(matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32), matrix.shape[1])


def _fit(estimator: Any, training: Batch) -> None:
    """Fit a transformer; if it needs the class, rows without a class are left out."""
    if training.y is None:
        estimator.fit(training.X)
        return
    known = training.class_known
    if not known.all():
        try:
            estimator.fit(training.X)
            return
        except (TypeError, ValueError):  # it needs the class, or fails below with the same error
            training = training.take(np.flatnonzero(known))
    estimator.fit(training.X, training.y)


def _names(estimator: Any, names: list[str]) -> list[str] | None:
    """The names of the outgoing columns, or None if the transformer does not give them."""
    if not hasattr(estimator, "get_feature_names_out"):
        return None
    return [str(name) for name in estimator.get_feature_names_out(np.array(names, dtype=object))]


def _value(text: str) -> Any:
    import ast

    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text


@hookimpl
def filterkit_stages() -> list[type[Stage]]:
    return [Sklearn]
