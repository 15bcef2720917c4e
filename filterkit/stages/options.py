"""The options of stages and formats: how they are declared, and which values they take."""

from __future__ import annotations

import dataclasses
import inspect
import operator
import os
import types
import typing
from collections.abc import Iterable
from functools import cache
from math import isfinite
from numbers import Real
from typing import Any, ClassVar, TypeVar

import numpy as np

from filterkit.errors import UsageError, one_line, quoted

# What an option can hold.
T = TypeVar("T", bound=int | float | str | bool | tuple[str, ...] | None)


def option(
    default: T,
    help: str,
    *,
    choices: tuple[str, ...] = (),
    minimum: float | None = None,
    maximum: float | None = None,
    bare: bool = False,
    output: bool = False,
    last: bool = False,
    names: str = "",
) -> T:
    """Declare an option of a stage or format, as the value of an annotated class attribute.

    Parameters
    ----------
    default : the value if the option is not given; None means that the data decide, which `help` explains.
    help : one sentence for ``--help`` and the reference page.
    choices : for a text option, the words allowed.
    minimum, maximum : the least and the largest number allowed. Texts have none. NaN is never allowed, and infinity
        only as the default.
    bare : whether the value follows the stage's options without a flag and is required; at most one option is bare.
    output : whether it names a file that the stage writes. The command line then refuses another output to the same
        file before any work.
    last : whether it comes behind the options that a derived stage declares.
    names : what a text names: ``attribute``, ``metric``, ``stage``, ``format``, ``file`` or nothing of the kind. Help
        shows it, and a shell completes such names.

    The type comes from the annotation: ``int``, ``float``, ``str`` or ``bool``, or one of them ``| None``;
    ``tuple[str, ...]`` is an option that may be repeated. ``int | str`` takes whole numbers as such and other texts,
    such as 5%, which the class checks. The attribute `top_rows` is ``--top-rows`` on the
    command line; a bool is a pair ``--x/--no-x``, or a plain flag ``--x`` if it defaults to False.
    """
    return dataclasses.field(
        default=default,
        kw_only=True,
        metadata={
            "help": help,
            "choices": choices,
            "minimum": minimum,
            "maximum": maximum,
            "bare": bare,
            "output": output,
            "last": last,
            "names": names,
        },
    )


DECLARE = "declare an option as in size: float = filterkit.option(1.0, 'How much.')"


class Configured:
    """What has a name and options, which a class declares by `option`.

    Raises
    ------
    TypeError : there is no such option, or the class declares one of a type that options cannot hold.
    UsageError : an option does not take the value.
    """

    name: ClassVar[str] = ""
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Only for the fields: making methods would take half a millisecond for each stage at every start.
        try:
            dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
        except (TypeError, ValueError) as error:  # an option without a type, or with a list as its default
            raise TypeError(f"{cls.__name__}: {error}; {DECLARE}") from None
        for field in dataclasses.fields(cls):
            if "bare" not in field.metadata:
                raise TypeError(f"{cls.__name__}: {field.name} has a type and is no option; leave it out, or {DECLARE}")

    def __init__(self, **options: Any) -> None:
        types_of(type(self))  # refuses types that no option can hold
        for field in dataclasses.fields(self):
            value = field.default
            if field.name in options:
                value = _converted(type(self), field, options.pop(field.name))
            setattr(self, field.name, value)
        if options:
            raise TypeError(f"{type(self).__name__} has no option {next(iter(options))!r}")
        for field in dataclasses.fields(self):
            check_value(type(self), field, getattr(self, field.name))
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check what else the options must hold, each of which is within its own bounds; a class that overrides this
        calls that of its base first."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), options_of(self))

    @staticmethod
    def shown(field: dataclasses.Field[Any]) -> str:
        """What messages call an option: by default, its flag."""
        return field.name.upper() if field.metadata["bare"] else flag_of(field)

    @classmethod
    def summary(cls) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(cls) or "").partition("\n")[0]


def _again(kind: type[Configured], options: dict[str, Any]) -> Configured:
    """One of this class with these options, for pickle."""
    return kind(**options)


def fields_of(stage: Any) -> list[dataclasses.Field[Any]]:
    """The options of a stage or format, or of its class, as they are declared, in the order of help."""
    return sorted(dataclasses.fields(stage), key=lambda field: field.metadata["last"])


def options_of(stage: Any) -> dict[str, Any]:
    """The options of a stage or format by name, in the order of `fields_of`, without its other attributes."""
    return {field.name: getattr(stage, field.name) for field in fields_of(stage)}


def types_of(stage: type[Any]) -> dict[str, Any]:
    """The types of the options of a class, by name: int, float, str, bool, `INT_OR_TEXT`, or tuple for a repeatable
    option.

    Raises
    ------
    TypeError : the class declares an option of another type, or with a default that is not of its type.
    """
    return _types_of(stage)  # type: ignore[arg-type]  # mypy takes the hash of a stage for that of its class


@cache
def _types_of(stage: type[Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(stage)
    return {field.name: _held(stage, field, hints[field.name]) for field in dataclasses.fields(stage)}


def _held(stage: type[Any], field: dataclasses.Field[Any], hint: Any) -> Any:
    """The type of the values of an option, from its annotation."""
    parts = hint.__args__ if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
    others = [part for part in parts if part is not type(None)]
    found = INT_OR_TEXT if set(others) == {int, str} else typing.get_origin(others[0]) or others[0]
    texts = found is tuple and typing.get_args(others[0]) not in ((), (str, ...))
    if (len(others) > 1 and found is not INT_OR_TEXT) or found not in _MEANING or texts:
        shown = getattr(hint, "__name__", None) if isinstance(hint, type) and not typing.get_args(hint) else str(hint)
        raise TypeError(
            f"{stage.__name__}.{field.name}: an option cannot hold {shown}; "
            "declare int, float, str, bool, int | str, tuple[str, ...], or one of these | None"
        )
    default = field.default
    if default is not None and (_texts(default) if found is tuple else _plain(found, default)) != default:
        raise TypeError(f"{stage.__name__}.{field.name}: the default {default!r} is not {_MEANING[found]}")
    return found


INT_OR_TEXT = int | str
_DIGITS = 20  # more make no number that an option could take
_MEANING = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    bool: "True or False",
    INT_OR_TEXT: "a whole number or a text",
    tuple: "a list of texts",
}


def _converted(kind: type[Configured], field: dataclasses.Field[Any], value: Any) -> Any:
    """`value` in the option's own type.

    Numpy numbers become Python numbers. A text option turns a number into its digits, and a repeatable option turns a
    list or a single text into a tuple.

    Raises
    ------
    UsageError : the option does not take such a value.
    """
    if value is None and field.default is None:
        return None
    type_ = types_of(kind)[field.name]
    plain = _texts(value) if type_ is tuple else _plain(type_, value)
    if plain is None:
        given = value if isinstance(value, str) else repr(value)
        raise UsageError(f"{kind.name}: {kind.shown(field)} must be {_MEANING[type_]}, not {quoted(given)}")
    return plain


def _texts(values: Any) -> tuple[str, ...] | None:
    """One text or several as a tuple; None if `values` are not texts."""
    if isinstance(values, str):
        return (str(values),)
    found = tuple(values) if isinstance(values, Iterable) else (None,)
    return tuple(map(str, found)) if all(isinstance(each, str) for each in found) else None


def _plain(type_: Any, value: Any) -> Any:
    """`value` as bool, int, float or str; None if it is not of that type."""
    boolean = isinstance(value, (bool, np.bool_))
    if type_ is INT_OR_TEXT:
        if not isinstance(value, str):
            return _plain(int, value)
        is_number = value.isascii() and value.removeprefix("-").isdigit() and len(value) < _DIGITS
        return int(value) if is_number else value
    if type_ is bool:
        return bool(value) if boolean else None
    if type_ is str:
        if isinstance(value, (str, os.PathLike)):
            return str(os.fspath(value))
        return str(value) if isinstance(value, Real) and not boolean else None
    if boolean or not isinstance(value, Real):
        return None
    if type_ is float:
        return float(value)
    return operator.index(value) if hasattr(value, "__index__") else None


def flag_of(field: dataclasses.Field[Any]) -> str:
    """The flag of an option, without the underscore that follows a name such as `class_`."""
    return "--" + field.name.removesuffix("_").replace("_", "-")


def check_value(kind: type[Configured], field: dataclasses.Field[Any], value: Any) -> None:
    """Raise a `UsageError` if an option does not take a value; it names the option, what is allowed and the value."""
    name, shown = kind.name, kind.shown(field)
    choices, minimum, maximum = (field.metadata[key] for key in ("choices", "minimum", "maximum"))
    if field.metadata["bare"] and value is None:
        raise UsageError(f"{name}: {shown} is missing")
    if choices and value is not None and value not in choices:
        raise UsageError(f"{name}: {shown} must be one of {', '.join(choices)}, not {quoted(str(value))}")
    if value is None or isinstance(value, str):
        return
    unlike = f"not {one_line(str(value), 60)}"
    if minimum is not None and not value >= minimum:
        raise UsageError(f"{name}: {shown} must be at least {_limit(minimum)}, {unlike}")
    if maximum is not None and not value <= maximum:
        raise UsageError(f"{name}: {shown} must be at most {_limit(maximum)}, {unlike}")
    if isinstance(value, float) and not isfinite(value) and value != field.default:
        raise UsageError(f"{name}: {shown} must be a finite number, {unlike}")


def _limit(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"


def described(kind: type[Configured]) -> list[dict[str, Any]]:
    """One dictionary for each option of a stage or format, which JSON can hold: how it is given, and what it takes."""
    types = types_of(kind)
    return [
        {
            "option": kind.shown(field),
            "type": _NAMES[types[field.name]],
            "repeatable": types[field.name] is tuple,
            "default": list(field.default) if isinstance(field.default, tuple) else field.default,
            "choices": list(field.metadata["choices"]) or None,
            "minimum": field.metadata["minimum"],
            "maximum": field.metadata["maximum"],
            "help": field.metadata["help"],
        }
        for field in fields_of(kind)
    ]


_NAMES = {  # as JSON Schema has them
    int: "integer",
    float: "number",
    str: "string",
    bool: "boolean",
    INT_OR_TEXT: ["integer", "string"],
    tuple: "string",
}
