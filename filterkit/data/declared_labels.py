"""Labels that the name of a relation declares, as in MEKA: ``data: -C 3`` or ``data: -C -3``."""

from __future__ import annotations

import re
from collections.abc import Sequence

_OPTION = re.compile(r"\s*(?<!\S)-C\s+([+-]?\d{1,18})(?!\S)")


def find_label_declaration(relation: str) -> tuple[str, re.Match[str] | None]:
    """Return the text after the first colon of a relation's name, and the match of the last ``-C N`` in it, or None.

    Group 1 of the match is N: the first N attributes are labels; if N is negative, the last |N|.
    """
    text = relation.partition(":")[2]
    found = list(_OPTION.finditer(text)) if "-C" in text else []
    return text, found[-1] if found else None


def update_declared_labels(relation: str, before: Sequence[int], after: Sequence[int], count: int) -> str:
    """Return the name of a relation, changed so that its option ``-C`` declares the labels after they have moved.

    `before` and `after` are the ascending positions of the labels, at least one, and `count` is the later number of
    attributes. The option is removed if the labels are then neither the first attributes nor the last. The name is
    returned unchanged if it does not declare the labels `before`, or if `after` has another number of labels.
    """
    text, declaration = find_label_declaration(relation)
    number = len(before)
    declared = 0 if declaration is None else int(declaration[1])
    if declaration is None or abs(declared) != number or (declared > 0) != (before[0] == 0) or len(after) != number:
        return relation
    start, stop = declaration.span(1)
    if after[-1] == number - 1 or after[0] == count - number:
        now = number if after[-1] == number - 1 else -number
        return relation if now == declared else relation.removesuffix(text) + text[:start] + str(now) + text[stop:]
    text = text[: declaration.start()] + text[declaration.end() :]
    return relation.partition(":")[0] + (f":{text}" if text.strip() else "")
