"""Polynomials in the text of C's kernels, in the runtime's order of operations."""

from __future__ import annotations

from collections.abc import Sequence


def polynomial(terms: Sequence[str], fma: str, *, by_pairs: bool) -> str:
    """The text of the polynomial of ``r`` with these terms, the lowest power first.

    The function ``fma`` is a product and sum with one rounding. By pairs, terms do not wait for
    each other, and ``s`` is ``r`` squared; else they are added in turn.

    Examples
    --------
    >>> from frazil.link.c.polynomial import polynomial
    >>> polynomial(["a", "b", "c"], "fma", by_pairs=False)
    'fma(fma(c, r, b), r, a)'
    >>> polynomial(["a", "b", "c"], "fma", by_pairs=True)
    'fma(s, c, fma(r, b, a))'
    """
    if not by_pairs:
        text = terms[-1]
        for term in reversed(terms[:-1]):
            text = f"{fma}({text}, r, {term})"
        return text
    pairs = [
        f"{fma}(r, {terms[at + 1]}, {terms[at]})" if at + 1 < len(terms) else terms[at]
        for at in range(0, len(terms), 2)
    ]
    text = pairs[-1]
    for pair in reversed(pairs[:-1]):
        text = f"{fma}(s, {text}, {pair})"
    return text
