"""Parse expressions: from text to a tree.

    or         a or b, a | b, a || b
    and        a and b, a & b, a && b
    not        not a, !a
    compare    = == != <> < <= > >=, a in (b, c), a not in (b, c), a is b
    add        + -
    multiply   * / %
    sign       -a +a
    power      a ^ b, a ** b (from the right)
    value      1.5e3  'text'  name  "a name"  `a name`  function(a, b)  (a)

The parser works by operator precedence. A tree has at most `DEEPEST` levels and a text at most `LONGEST` characters, so
that neither parsing nor evaluation can exhaust memory or the stack.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from filterkit import FilterkitError

DEEPEST = 100
LONGEST = 10_000
_ADVICE = "compute a part of it first, by the stage set"

LANGUAGE_HELP = """\
An expression has numbers, texts in single quotes, attributes, operators and functions:

- An attribute is written by its name, ``width`` or, with blanks and signs, ``"petal width"`` in double quotes or
  backquotes. ``ATT3`` is the third attribute, counted from 1, and ``CLASS`` the class, as in Weka, unless an attribute
  has this name. A quote within quotes is written twice.
- ``+ - * / % ^`` compute with numbers; ``= != < <= > >=`` compare numbers, texts or dates, and ``is`` is ``=``;
  ``x in ('a', 'b')`` is true for any of them; ``and``, ``or``, ``not``, also written ``&``, ``|``, ``!``, and
  parentheses combine.
- A nominal value is the text of its label. A date is compared with a text in the format of its attribute; in
  computations it is the number of milliseconds since 1970-01-01 UTC. True is 1 and false 0.
- ``abs sqrt exp log log2 log10 floor ceil round sign sin cos tan`` take a number (``log`` is the natural one); ``min``
  and ``max`` take several.
- ``round(x)`` takes ties to the even number, as Weka's ``rint``: 2.5 becomes 2, and -3.5 becomes -4. ``round(x, n)``
  rounds x times 10 to the power of n, a whole number, in this way: ``round(1250, -2)`` is 1200.
- ``a % b`` has the sign of b, as in Python: ``-7 % 3`` is 2. Weka has no ``%``; Java's has the sign of a.
- ``a ^ b``, or ``a ** b``, goes from the right and before a sign, as in Weka 3.9: ``2 ^ 3 ^ 2`` is 512, and ``-2 ^ 2``
  is -4. (Weka 3.6 makes 64 and 4 of them.) A negative number to a power that is not whole is missing.
- ``year month day weekday hour minute`` take a date, in UTC; ``weekday`` is 1 for Monday and 7 for Sunday.
  ``days_between(a, b)`` is the number of days from one date to another, with a fraction where there are times.
- ``length lower upper trim`` take a text, ``contains starts_with ends_with`` two, ``concat`` several; ``number(text)``
  and ``text(number)`` convert.
- ``if(condition, then, else)``, ``is_missing(x)``, ``coalesce(x, y, ...)``, which is the first that is not missing, and
  the word ``missing``.

What is computed from a missing value is missing. Only ``is_missing``, ``coalesce``, ``if``, ``false and missing``,
``true or missing``, ``missing ^ 0`` and ``1 ^ missing`` can have a value. A result of ``set`` or ``map`` that is no
finite number, as that of ``1/0``, becomes missing, too."""


class Tree(NamedTuple):
    """Holds an expression, or a part of one, as a tree; or a token, which is a tree without parts.

    Attributes
    ----------
    node_kind : ``number``, ``text``, ``name``, ``attribute`` (a name in quotes) or ``call``; of a token also ``sign``
        and ``end``.
    value : the number, the text or name without quotes, or the name of the function or operator; of a token that is a
        number or a sign, its characters.
    at : the index of its first character in the text of the expression; of the operator if it has two operands.
    parts : the operands of a call; else empty.
    depth : the number of levels of the tree; 1 without parts.
    """

    node_kind: str
    value: Any
    at: int
    parts: tuple[Tree, ...] = ()
    depth: int = 1


def _make_call_tree(name: str, at: int, *parts: Tree) -> Tree:
    """Make the tree of a call of `name`, which stands at the index `at` of the text; `parts` are the operands.

    Raise an ExpressionError if it has more than `DEEPEST` levels.
    """
    depth = 1 + max((part.depth for part in parts), default=0)
    if depth > DEEPEST:
        raise ExpressionError(f"the expression is more than {DEEPEST} levels deep; {_ADVICE}", at)
    return Tree("call", name, at, parts, depth)


class ExpressionError(FilterkitError):
    """Raised for an invalid expression; the fault is at the character `at` of its text, counted from 0."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


def describe_expression_error(error: ExpressionError, text: str) -> str:
    """Return a message that says where in the expression `text` the fault is, counted from 1, and what it is."""
    found = repr(text[error.at : error.at + 20]) if error.at < len(text) else "the end"
    return f"expression, character {error.at + 1} ({found}): {error}"


_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d][\w.]*)"
    r"|(?P<text>'(?:[^']|'')*')|(?P<attribute>\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`)"
    r"|(?P<sign>\*\*|==|!=|<>|<=|>=|&&|\|\||[-+*/%^=<>(),&|!])|(?P<end>\Z))"
)


def _tokenize(text: str, start: int) -> list[Tree]:
    """Split ``text[start:]`` into tokens, the last of them ``end``; raise an ExpressionError if it is invalid."""
    tokens, at = list[Tree](), start
    while not tokens or tokens[-1].node_kind != "end":
        match = _TOKEN.match(text, at)
        if match is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            if text[at] in "'\"`":
                raise ExpressionError(f"the quote {text[at]} is not closed; add another at the end of the text", at)
            raise ExpressionError(f"{text[at]} means nothing here; put a name that has it in double quotes", at)
        kind = str(match.lastgroup)
        value = match[kind]
        if kind in ("text", "attribute"):
            value = value[1:-1].replace(value[0] * 2, value[0])
        tokens.append(Tree(kind, value, match.start(kind)))
        at = match.end()
    return tokens


_SAME = {"==": "=", "<>": "!=", "is": "=", "**": "^", "&": "and", "&&": "and", "|": "or", "||": "or", "!": "not"}
_BINDING = {"or": 1, "and": 2, "=": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "in": 4, "not": 4}
_BINDING |= {"+": 5, "-": 5, "*": 6, "/": 6, "%": 6, "^": 8}
_NOT, _SIGN = 3, 7
_WORDS = {"or", "and", "not", "in", "is"}


def parse_expression(text: str, start: int = 0) -> Tree:
    """Parse the expression ``text[start:]`` into its tree, whose indices count from the beginning of `text`.

    Raise an ExpressionError if it is invalid, longer than `LONGEST` characters, or deeper than `DEEPEST` levels.
    """
    if len(text) > start + LONGEST:
        raise ExpressionError(f"the expression has more than {LONGEST:,} characters; {_ADVICE}", start + LONGEST)
    parser = _Parser(_tokenize(text, start)[::-1])
    tree = parser.parse_operation(0)
    parser.consume_expected_token("end", "the end of the expression or an operator")
    return tree


@dataclass
class _Parser:
    """Parses tokens into trees; each method that returns a tree consumes its tokens, and may raise ExpressionError."""

    tokens: list[Tree]  # the next one is the last
    depth: int = 0  # of calls of `parse_operation` inside each other

    def consume_expected_token(self, value: str, what: str) -> None:
        """Consume the next token if it is `value`, which is a sign or ``end``; else raise an ExpressionError.

        The message says that `what` was expected.
        """
        token = self.tokens[-1]
        if not (token.node_kind == value == "end" or (token.node_kind == "sign" and token.value == value)):
            found = "the end" if token.node_kind == "end" else repr(token.value)
            raise ExpressionError(f"expected {what}, found {found}", token.at)
        self.tokens.pop()

    def _peek_operator_or_bracket(self) -> str:
        """Return the next token, but do not consume it, if it is an operator, bracket or comma; else return "".

        An operator comes in its canonical spelling, such as ``and`` for ``&&``.
        """
        token = self.tokens[-1]
        if token.node_kind == "sign" or (token.node_kind == "name" and token.value.lower() in _WORDS):
            word: str = token.value.lower()
            return _SAME.get(word, word)
        return ""

    def parse_operation(self, binding: int) -> Tree:
        """Parse an operand, and operators with their right operands as long as they bind more tightly than `binding`.

        `binding` is a value of `_BINDING`, or 0 for all operators.
        """
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError(f"the expression is more than {DEEPEST} levels deep; {_ADVICE}", self.tokens[-1].at)
        tree = self._parse_operand()
        while _BINDING.get(self._peek_operator_or_bracket(), 0) > binding:
            tree = self._parse_rest_of_operation(tree)
        self.depth -= 1
        return tree

    def _parse_rest_of_operation(self, left: Tree) -> Tree:
        """Parse the next operator and its right operand, and return their tree with the left operand `left`."""
        operator, at = self._peek_operator_or_bracket(), self.tokens.pop().at
        if operator == "not":
            if self._peek_operator_or_bracket() != "in":
                raise ExpressionError("expected 'in' after 'not', as in x not in (1, 2)", self.tokens[-1].at)
            self.tokens.pop()
            return _make_call_tree("not", at, _make_call_tree("in", at, left, *self._parse_arguments()))
        if operator == "in":
            return _make_call_tree("in", at, left, *self._parse_arguments())
        binding = _BINDING[operator]
        right = self.parse_operation(binding - 1 if operator == "^" else binding)
        following = self._peek_operator_or_bracket()
        if _BINDING["="] == binding == _BINDING.get(following) and following != "not":
            raise ExpressionError("comparisons do not chain; write a < b and b < c", self.tokens[-1].at)
        return _make_call_tree(operator, at, left, right)

    def _parse_operand(self) -> Tree:
        operator, token = self._peek_operator_or_bracket(), self.tokens[-1]
        if operator not in ("not", "-", "+", "(") and (operator or token.node_kind == "end"):
            self.consume_expected_token("value", "a value")
        self.tokens.pop()
        if operator in ("not", "-", "+"):
            name, binding = ("not", _NOT) if operator == "not" else (f"sign{operator}", _SIGN)
            return _make_call_tree(name, token.at, self.parse_operation(binding - 1))
        if operator == "(":
            tree = self.parse_operation(0)
            self.consume_expected_token(")", "')'")
            return tree
        if token.node_kind == "name" and self._peek_operator_or_bracket() == "(":
            return _make_call_tree(token.value.lower(), token.at, *self._parse_arguments(may_be_empty=True))
        if token.node_kind == "number":
            number = float(token.value)
            if math.isinf(number):
                raise ExpressionError("the number is above 1.8e308, the largest one; write a smaller one", token.at)
            return token._replace(value=number)
        return token

    def _parse_arguments(self, may_be_empty: bool = False) -> tuple[Tree, ...]:
        """Parse expressions in parentheses, separated by commas, and return their trees.

        There must be at least one, unless `may_be_empty`.
        """
        self.consume_expected_token("(", "'('")
        parts: list[Tree] = []
        while not (may_be_empty and not parts and self._peek_operator_or_bracket() == ")"):
            parts.append(self.parse_operation(0))
            if self._peek_operator_or_bracket() != ",":
                break
            self.tokens.pop()
        self.consume_expected_token(")", "',' or ')'")
        return tuple(parts)
