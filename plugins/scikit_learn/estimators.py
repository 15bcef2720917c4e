"""Make estimators by the names of their classes, set their parameters, and run, store and load them."""

from __future__ import annotations

import ast
import base64
import importlib
import inspect
import io
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any, TypeVar

from filterkit import FilterkitError, StageError, UsageError, option
from filterkit.plugin import (
    call_interruptibly,
    check_package_is_trusted,
    one_blas_thread,
    quoted,
    suggestion,
    warn_of_fit,
)

from .names import get_sklearn_class_paths

T = TypeVar("T")

_LOCK = Lock()  # scikit-learn changes the filters of warnings, which all threads share

_PATH = re.compile(r"(\w+\.)+[A-Z]\w*")  # of a class
# What the list of skops lacks: all classes of scikit-learn and, as others could do anything, its functions of scores.
# skops checks the function that a partial calls, too.
_TRUSTED = (
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
    "collections.OrderedDict",
    "functools.partial",
    "numpy.mean",
    "scipy.interpolate._bsplines.BSpline",
    "scipy._lib.array_api_compat.numpy._aliases.asarray",
)
_TRUSTED_OF_SKLEARN = re.compile(
    r"sklearn\.(metrics\.|feature_selection\._univariate_|cluster\._kmeans\._kmeans_single_|"
    r"utils\.validation\.check_array$|.*\._?[A-Z]\w*$)"
)
_SHOWN = 300  # characters of a message from outside filterkit
# The end of a message that a class lacks a parameter, whose name is to be filled in.
NEEDS_PARAMETER = "needs the parameter {0}; write --set {0}=VALUE, which may be a class, such as LinearSVC"


def declare_set_option() -> tuple[str, ...]:
    """Declare the option ``--set``, whose values are texts such as ``C=0.1``; assign the result to a class variable."""
    return option(
        (),
        "A parameter, as C=0.1; what is not a Python literal is a text or names a class, as estimator=LinearSVC.",
        completions=_complete_estimator_parameters,
    )


def check_class_and_parameters(stage: str, class_: str, assignments: tuple[str, ...], flag: str = "--set") -> None:
    """Check the name of a class and assignments to its parameters, without importing the class.

    Parameters
    ----------
    stage : the name of the stage, for messages.
    class_ : the short name of a class of scikit-learn, such as ``LinearSVC``, or the full path of any class.
    assignments : texts such as ``C=0.1``.
    flag : the option that has the assignments.

    Raises
    ------
    UsageError : `class_` is neither a short name of scikit-learn nor like a path, an assignment is not like NAME=VALUE,
        or a saved chain names a class of a package that the user does not trust.
    """
    if class_ not in get_sklearn_class_paths() and not _PATH.fullmatch(class_):
        hint = suggestion(class_, list(get_sklearn_class_paths()))
        hint += " Classes" if hint else "; classes"
        hint += " of other packages go by their path, such as lightgbm.LGBMClassifier"
        raise UsageError(f"{stage}: scikit-learn has no classifier, regressor or transformer {quoted(class_)}{hint}")
    for pair in assignments:
        if "=" not in pair or not pair.partition("=")[0].isidentifier():
            raise UsageError(f"{stage}: {flag} must be like standardize=False, not {quoted(pair)}")
    for path in filter(_PATH.fullmatch, re.split("[=,]", ",".join([class_, *assignments]))):
        check_package_is_trusted(stage, path)


def parse_parameter_value(stage: str, name: str, text: str) -> Any:
    """Parse the value of the parameter `name`.

    A Python literal becomes its value. The name of a class becomes an estimator of the class. For the parameter
    ``estimators``, also of a nested estimator, one or more names with commas between them become a list of pairs of a
    name and an estimator. Anything else stays a text. `stage` is for messages. Raise UsageError as `make_estimator`
    does, and for several names where one estimator is wanted.
    """
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        pass
    words = text.split(",")
    if not all(word in get_sklearn_class_paths() or _PATH.fullmatch(word) for word in words):
        return text
    estimators = [make_estimator(stage, word) for word in words]
    if name.rpartition("__")[2] == "estimators":
        return [(type(each).__name__.lower(), each) for each in estimators]
    if len(words) > 1:
        raise UsageError(f"{stage}: the parameter {name} takes one estimator, not {quoted(text)}; name one of them")
    return estimators[0]


def make_estimator(
    stage: str, class_: str, assignments: Iterable[str] = (), chosen: Mapping[str, Any] | None = None
) -> Any:
    """Make an estimator that is not fitted.

    Parameters
    ----------
    stage, class_, assignments : as for `check_class_and_parameters`; ``estimator__C=0.1`` sets the parameter C of the
        estimator ``estimator``.
    chosen : the values of further parameters by name, which replace those of `assignments`; None for no others.

    Raises
    ------
    UsageError : there is no such class or parameter, or a parameter lacks a value or has a wrong one.
    """
    pairs = (pair.partition("=")[::2] for pair in assignments)
    values = {name: parse_parameter_value(stage, name, text) for name, text in pairs} | dict(chosen or {})
    estimator_class = _import_estimator_class(stage, class_)
    own = {name: value for name, value in values.items() if "__" not in name}
    parameters = inspect.signature(estimator_class).parameters
    unknown = next((name for name in own if name not in parameters), None)
    if unknown is not None and not any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        hint = suggestion(unknown, list(parameters)) or f"; it has {', '.join(parameters)}"
        raise UsageError(f"{stage}: {estimator_class.__name__} has no parameter {quoted(unknown)}{hint}")
    nested = {name: value for name, value in values.items() if name not in own}
    has_nested = {name.partition("__")[0] for name in nested}
    for name, each in parameters.items():
        value = own.get(name, each.default if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD) else ())
        if value is each.empty or (value is None and name in has_nested):
            raise UsageError(f"{stage}: {estimator_class.__name__} {NEEDS_PARAMETER.format(name)}")
    try:
        estimator = estimator_class(**own)
        return estimator.set_params(**nested) if nested else estimator
    except (TypeError, ValueError) as error:
        raise UsageError(f"{stage}: {estimator_class.__name__}: {shorten_message(error)}") from None


def _import_estimator_class(stage: str, class_: str) -> type[Any]:
    module, _, name = get_sklearn_class_paths().get(class_, class_).rpartition(".")
    try:
        imported = importlib.import_module(module)
    except ImportError as error:
        is_unknown = error.name is not None and f"{module}.".startswith(f"{error.name}.")
        hint = "; correct the name, or install the package" if is_unknown else ""
        raise UsageError(f"{stage}: {class_}: {error}{hint}") from None
    estimator_class = getattr(imported, name, None)
    if not isinstance(estimator_class, type):
        hint = suggestion(name, [each for each in dir(imported) if each[0].isupper()])
        raise UsageError(f"{stage}: {module} has no class {quoted(name)}{hint or '; correct the name'}")
    if not hasattr(estimator_class, "fit"):
        raise UsageError(f"{stage}: {class_} has no method fit; name the class of an estimator")
    return estimator_class


def _complete_estimator_parameters(options: Mapping[str, str]) -> list[str]:
    """List the parameters of the estimator that a command line names, each with ``=``; [] if it names no class."""
    class_ = options.get("estimator") or options.get("class_", "")
    try:
        return [f"{name}=" for name in inspect.signature(_import_estimator_class("", class_)).parameters]
    except (UsageError, ValueError):
        return []


def call_estimator(stage: str, class_: str, function: Callable[..., T], *arguments: Any, jobs: int = 1) -> T:
    """Call a method of an estimator so that the result does not depend on the number of threads; return the result.

    Only one call runs at a time, and signals interrupt it. Each different warning of the call becomes a warning that
    names the stage and the class.

    Parameters
    ----------
    stage, class_ : names for messages and warnings.
    function, arguments : the method, and what it is called with.
    jobs : the number of threads of joblib that the estimator may use; BLAS and OpenMP have one.

    Raises
    ------
    StageError : the call fails. A MemoryError, an OSError, and an error of filterkit are raised as they are.
    """

    def call_and_catch_warnings() -> tuple[T, list[warnings.WarningMessage]]:
        from joblib import parallel_backend
        from threadpoolctl import threadpool_limits

        with (
            _LOCK,
            warnings.catch_warnings(record=True) as caught,
            one_blas_thread(),
            threadpool_limits(1, "openmp"),
            parallel_backend("threading" if jobs > 1 else "sequential", n_jobs=jobs),
        ):
            return function(*arguments), caught

    try:
        result, caught = call_interruptibly(call_and_catch_warnings)
    except (FilterkitError, MemoryError, OSError):
        raise
    except Exception as error:  # packages have errors of their own
        text = shorten_message(error)
        if "infs or NaNs" in text or "infinity" in text:  # what comes to it is finite
            text += '; numbers are too large; put before it: standardize, or for a class: set "NAME = NAME / 1e300"'
        raise StageError(stage, f"{class_}: {text}") from None
    for text, category in {str(each.message): each.category for each in caught}.items():
        warn_of_fit(stage, f"{class_}: {shorten_message(text)}", category)
    return result


def shorten_message(error: Exception | str) -> str:
    """Join a message of another package to one line of at most 300 characters."""
    return " ".join(str(error).split())[:_SHOWN]


def convert_sparse_to_csr_matrix(X: Any) -> Any:
    """Convert sparse rows to a csr_matrix, because not all packages know scipy's sparse arrays; return others as is."""
    from scipy.sparse import csr_matrix, issparse

    return csr_matrix(X) if issparse(X) else X


def encode_fitted_estimator(estimator: Any) -> str:
    """Encode a fitted estimator, or a list of estimators and numbers, as text, which `decode_fitted_estimator` decodes.

    Raise NotImplementedError if skops is not installed, or cannot store the estimator with all it has learned.
    """
    try:
        skops_io = _import_skops()
    except UsageError as error:
        raise NotImplementedError(str(error)) from None
    from skops.io.exceptions import UnsupportedTypeException

    try:
        data = skops_io.dumps(estimator)
    except UnsupportedTypeException as error:
        raise NotImplementedError(f"skops cannot store it: {error}") from None
    untrusted = skops_io.get_untrusted_types(data=data)
    loaded = skops_io.loads(data, trusted=untrusted) if untrusted else estimator
    pairs = zip(estimator, loaded) if isinstance(estimator, list) else [(estimator, loaded)]
    if any(getattr(one, "n_features_in_", None) != getattr(other, "n_features_in_", None) for one, other in pairs):
        raise NotImplementedError(
            "skops stores it without what it has learned; take another estimator to save the chain"
        )
    return base64.b64encode(data).decode()


def decode_fitted_estimator(stage: str, text: str) -> Any:
    """Decode the estimator or list that `encode_fitted_estimator` encoded; nothing in the text can run.

    Only classes of scikit-learn, those of scipy and numpy that skops trusts, and those of packages that the user trusts
    are allowed. Raise UsageError for another class or without skops, and FilterkitError if the estimator would take
    more memory than its text. A damaged text may lead to any other exception. `stage` is for messages.
    """
    skops_io = _import_skops()
    data = base64.b64decode(text, validate=True)
    _check_unpacked_size(data)
    trusted = []
    for path in skops_io.get_untrusted_types(data=data):
        if path not in _TRUSTED:
            check_package_is_trusted(stage, path)
        if not path.startswith("sklearn.") or _TRUSTED_OF_SKLEARN.match(path):
            trusted.append(path)
    return skops_io.loads(data, trusted=trusted)


def _check_unpacked_size(data: bytes) -> None:
    """Raise FilterkitError if the estimator in `data`, an archive of skops, could take more memory than the archive.

    It could if members of the archive are compressed, overlap, or stand for several objects.
    """
    import json
    from zipfile import ZipFile

    with ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if any(member.file_size != member.compress_size for member in members):
            raise FilterkitError("the saved estimator is compressed, which filterkit does not read")
        nodes: list[dict[str, Any]] = []
        json.loads(archive.read("schema.json"), object_hook=nodes.append)
    # The file of each object, and its number. Objects of one number are read once, but those without, or of 0, each.
    read = {(str(node["file"]), node.get("__id__") or (n,)) for n, node in enumerate(nodes) if "file" in node}
    if sum(member.file_size for member in members) > len(data) or len({file for file, _ in read}) < len(read):
        raise FilterkitError("the saved estimator would take more memory than its file")


def _import_skops() -> Any:
    """Import and return `skops.io`, which reads estimators without running code; raise UsageError if it is missing."""
    try:
        import skops.io
    except ImportError:
        hint = "pip install 'arff-filterkit[skops]'"
        raise UsageError(f"a saved estimator of scikit-learn needs the package skops: {hint}") from None
    return skops.io
