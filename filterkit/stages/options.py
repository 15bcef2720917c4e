"""The options of stages and formats: their declarations, and checks of their values."""

from __future__ import annotations

import dataclasses
import inspect
import operator
import os
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from math import inf, isfinite
from numbers import Real
from typing import Any, ClassVar, TypeVar

from filterkit.errors import UsageError, quoted, to_one_line

# The types of values that an option can hold.
T = TypeVar("T", bound=int | float | str | bool | tuple[str, ...] | None)
Completions = Callable[[Mapping[str, str]], Iterable[str]]


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
    completions: Completions | None = None,
) -> T:
    """Declare an option of a stage or format, as the value of an annotated class attribute.

    Parameters
    ----------
    default : the value of an option that the user leaves out. None means no value: `help` says what happens then.
    help : one sentence for ``--help`` and the reference page.
    choices : for a text option, the words allowed.
    minimum, maximum : the least and the largest number allowed; None for no bound. Texts are not compared with them.
        NaN is never allowed, and infinity only as the default.
    bare : whether the value is written without a flag. At most one option is bare. The user must give it if its default
        is None.
    output : whether the value is the path of a file that the stage writes. The command line then refuses another output
        to the same file before any work.
    last : whether help lists it after the options that a derived stage declares.
    names : what the text stands for; help shows it in capitals. A shell completes an ``attribute``, ``metric``,
        ``stage``, ``stages``, ``format`` or ``file``. Other words, such as ``regex``, are only shown. For "", help
        shows TEXT, or NAME if the option may be repeated.
    completions : a function that returns the words that the text may be; it may continue after a word that ends in
        ``=``. A shell completes these words. The function gets the values of earlier options by name, as texts. It gets
        {} when a user writes such a word where a stage must stand; the message then shows how to write it.

    The type comes from the annotation: ``int``, ``float``, ``str`` or ``bool``, or one of them ``| None``;
    ``tuple[str, ...]`` is an option that may be repeated. ``int | str`` holds a whole number as an int, and
    any other value, such as 5%, as a text that the class checks. The attribute `top_rows` is ``--top-rows`` on the
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
            "completions": completions,
        },
    )


DECLARE = "declare an option as in size: float = filterkit.option(1.0, 'How much.')"


class OptionOwner:
    """A base for stages and formats: classes with a name, and with options that they declare by `option`.

    An instance is made from values of its options by keyword; others have their defaults.

    Attributes
    ----------
    name : what messages call the class.

    Raises
    ------
    TypeError : an argument is not an option of the class, or the class declares an option of a type that options cannot
        hold. Declaring a class also raises it, for an annotated attribute that is no option.
    UsageError : an option does not accept its value, or a bare option is missing.
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
                raise TypeError(
                    f"{cls.__name__}: {field.name} has a type but is not an option; leave the type out, or {DECLARE}"
                )

    def __init__(self, **options: Any) -> None:
        get_option_types(type(self))  # refuses types that no option can hold
        for field in dataclasses.fields(self):
            value = field.default
            if field.name in options:
                value = _convert_option_value(type(self), field, options.pop(field.name))
            setattr(self, field.name, value)
        if options:
            raise TypeError(f"{type(self).__name__} has no option {next(iter(options))!r}")
        for field in dataclasses.fields(self):
            check_option_value(type(self), field, getattr(self, field.name))
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check the options together, after each alone: raise UsageError if they contradict each other.

        The default checks nothing. An override calls that of its base first, if a base other than
        `OptionOwner` has one. It may also set attributes that options decide.
        """

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **get_option_values(self)), ()

    @staticmethod
    def name_option(field: dataclasses.Field[Any]) -> str:
        """Return what messages call an option: by default its flag, or the name in capitals of a bare option."""
        return field.name.upper() if field.metadata["bare"] else make_flag(field)

    shown = name_option  # its name in older plugins

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the docstring; "" without a docstring."""
        return (inspect.getdoc(cls) or "").partition("\n")[0]


def list_option_fields(stage: Any) -> list[dataclasses.Field[Any]]:
    """Return the declarations of the options of a stage or format, or of its class; those with ``last=True`` last."""
    return sorted(dataclasses.fields(stage), key=lambda field: field.metadata["last"])


def get_seed_option(stage: Any) -> int:
    """Return the value of the option ``--seed`` of a stage; 0 if it has no such option, or its value is no integer."""
    seed = getattr(stage, "seed", 0)
    return seed if isinstance(seed, int) else 0


def get_option_values(stage: Any) -> dict[str, Any]:
    """Return the values of the options of a stage or format by name, in the order of `list_option_fields`."""
    return {field.name: getattr(stage, field.name) for field in list_option_fields(stage)}


def _find_option_types(stage: type[Any]) -> dict[str, Any]:
    """Return the types of the options of a class, by name; `get_option_types` caches them.

    A type, without ``| None``, is int, float, str, bool, `INT_OR_TEXT`, or tuple for a repeatable option. Raise
    TypeError if the class declares another, or a default that is neither None nor of its type.
    """
    hints = typing.get_type_hints(stage)
    return {field.name: _parse_option_type(stage, field, hints[field.name]) for field in dataclasses.fields(stage)}


# mypy takes the hash of a class for that of its instances.
get_option_types: Callable[[type[Any]], dict[str, Any]] = cache(_find_option_types)  # type: ignore[assignment]


def _parse_option_type(stage: type[Any], field: dataclasses.Field[Any], hint: Any) -> Any:
    """Return the type of the values of an option, without None; `hint` is its annotation.

    Raise TypeError if no option can hold this type, or the default is not of it.
    """
    parts = hint.__args__ if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
    others = [part for part in parts if part is not type(None)]
    type_ = INT_OR_TEXT if set(others) == {int, str} else typing.get_origin(others[0]) or others[0]
    is_wrong_tuple = type_ is tuple and typing.get_args(others[0]) not in ((), (str, ...))
    if (len(others) > 1 and type_ is not INT_OR_TEXT) or type_ not in _TYPES or is_wrong_tuple:
        shown = getattr(hint, "__name__", None) if isinstance(hint, type) and not typing.get_args(hint) else str(hint)
        raise TypeError(
            f"{stage.__name__}.{field.name}: an option cannot hold {shown}; "
            "declare int, float, str, bool, int | str, tuple[str, ...], or one of these | None"
        )
    default = field.default
    if default is not None and _convert_to_type(type_, default) != default:
        raise TypeError(f"{stage.__name__}.{field.name}: the default {default!r} is not {_TYPES[type_][0]}")
    return type_


INT_OR_TEXT = int | str
_MOST_DIGITS = 20  # a number of more digits is too large for any option
_TYPES = {  # what each type means, and its name in JSON Schema
    int: ("a whole number", "integer"),
    float: ("a number", "number"),
    str: ("a text", "string"),
    bool: ("True or False", "boolean"),
    INT_OR_TEXT: ("a whole number or a text", ["integer", "string"]),
    tuple: ("a list of texts", "string"),
}


def _convert_option_value(owner: type[OptionOwner], field: dataclasses.Field[Any], value: Any) -> Any:
    """Return a value for an option, converted to the option's type as `_convert_to_type` does.

    None stays None if the default of the option is None. Raise UsageError if the option does not accept the value, such
    as None for another default. `owner` is the class of the option, for the message.
    """
    if value is None and field.default is None:
        return None
    type_ = get_option_types(owner)[field.name]
    converted = _convert_to_type(type_, value)
    if converted is None:
        shown = value if isinstance(value, str) else repr(value)
        raise UsageError(f"{owner.name}: {owner.name_option(field)} must be {_TYPES[type_][0]}, not {quoted(shown)}")
    return converted


def _convert_to_type(type_: Any, value: Any) -> Any:
    """Convert a value to a type of `get_option_types`; return None if an option of this type does not accept the value.

    Numbers, bools and texts may be numpy's; the result is Python's. This is what each type accepts:

    - bool: a bool, which no other type accepts.
    - int: an integer, of any size; not a float such as 2.0, and no text.
    - float: any real number, but no text. A number beyond the range of float64 becomes inf or -inf.
    - str: a text, a path, or a real number; the last two become texts.
    - `INT_OR_TEXT`: an integer or a text. A text of at most 19 characters becomes an int if they are ASCII digits,
      perhaps after a minus sign.
    - tuple: a text, which becomes (text,), or an iterable of texts. Those of a set are sorted, because their order
      changes from run to run.
    """
    is_bool = type(value).__name__ in ("bool", "bool_")  # numpy's, too, which is not imported for this
    if type_ is tuple:
        values = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else (None,)
        if not all(isinstance(each, str) for each in values):
            return None
        return tuple(sorted(map(str, values)) if isinstance(value, (set, frozenset)) else map(str, values))
    if type_ is INT_OR_TEXT:
        if not isinstance(value, str):
            return _convert_to_type(int, value)
        is_number = value.isascii() and value.removeprefix("-").isdigit() and len(value) < _MOST_DIGITS
        return int(value) if is_number else value
    if type_ is bool:
        return bool(value) if is_bool else None
    if type_ is str:
        if isinstance(value, (str, os.PathLike)):
            return str(os.fspath(value))
        return str(value) if isinstance(value, Real) and not is_bool else None
    if is_bool or not isinstance(value, Real):
        return None
    if type_ is float:
        try:
            return float(value)
        except OverflowError:  # a whole number or a fraction beyond the range of float64
            return -inf if value < 0 else inf
    return operator.index(value) if hasattr(value, "__index__") else None


def make_flag(field: dataclasses.Field[Any]) -> str:
    """Return the flag of an option: `top_rows` is ``--top-rows``, and `class_` is ``--class``."""
    return "--" + field.name.removesuffix("_").replace("_", "-")


def check_option_value(owner: type[OptionOwner], field: dataclasses.Field[Any], value: Any) -> None:
    """Raise a `UsageError` if a value of the option's type is not among its choices, or not within its bounds.

    Numbers must be finite unless they are the default. None is refused only for a bare option. `owner` is the class of
    the option, for the message.
    """
    name, shown = owner.name, owner.name_option(field)
    choices, minimum, maximum = (field.metadata[key] for key in ("choices", "minimum", "maximum"))
    if field.metadata["bare"] and value is None:
        raise UsageError(f"{name}: {shown} is missing; write it after {name}")
    if choices and value is not None and value not in choices:
        raise UsageError(f"{name}: {shown} must be one of {', '.join(choices)}, not {quoted(str(value))}")
    if value is None or isinstance(value, str):
        return
    unlike = f"not {to_one_line(str(value), 60)}"
    for limit, word, is_within in ((minimum, "least", operator.ge), (maximum, "most", operator.le)):
        if limit is not None and not is_within(value, limit):
            bound = f"{limit:,}" if isinstance(limit, int) else f"{limit:g}"
            raise UsageError(f"{name}: {shown} must be at {word} {bound}, {unlike}")
    if isinstance(value, float) and not isfinite(value) and value != field.default:
        raise UsageError(f"{name}: {shown} must be a finite number, {unlike}")


def describe_options(owner: type[OptionOwner]) -> list[dict[str, Any]]:
    """Describe the options of a stage or format, for JSON.

    Each is a dictionary: ``option`` (what messages call it), ``type`` (of a value, as in JSON Schema), ``repeatable``,
    ``default``, ``choices`` (None: any), ``minimum`` and ``maximum`` (None: no bound), and ``help``.
    """
    types = get_option_types(owner)
    return [
        {
            "option": owner.name_option(field),
            "type": _TYPES[types[field.name]][1],
            "repeatable": types[field.name] is tuple,
            "default": list(field.default) if isinstance(field.default, tuple) else field.default,
            "choices": list(field.metadata["choices"]) or None,
            **{key: field.metadata[key] for key in ("minimum", "maximum", "help")},
        }
        for field in list_option_fields(owner)
    ]
