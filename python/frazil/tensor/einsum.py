"""Sums of products over named dimensions."""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.graph.collection import is_sequence
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.declarations import specify_shape
from frazil.tensor.diagonals import diagonal
from frazil.tensor.dims import expand_dims, squeeze
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import length, lengths, literal, product, static_length
from frazil.tensor.products import matmul
from frazil.tensor.reductions import sum
from frazil.tensor.reshaping import reshape
from frazil.tensor.transposition import permute_dims

_PLANNERS = ("auto", "optimal", "branch-all", "branch-2", "branch-1", "dp", "greedy")
"""The planners of opt_einsum that always find the same order."""

_UNKNOWN = 64
"""The length that is assumed where types tell none, when the order of products is chosen."""


class Term:
    """An operand, and a letter for each of its dimensions."""

    def __init__(self, x: Variable, letters: str) -> None:
        self.x, self.letters = x, letters

    def ordered(self, letters: str) -> Variable:
        """Return the operand with its dimensions in this order."""
        return permute_dims(self.x, [self.letters.index(letter) for letter in letters])

    def without(self, letters: str) -> Term:
        """Return the operand summed over these dimensions."""
        if not letters:
            return self
        axes = [self.letters.index(letter) for letter in letters]
        kept = "".join(letter for letter in self.letters if letter not in letters)
        return Term(sum(self.x, axes, self.x.dtype), kept)


@described
def einsum(
    subscripts: str, *operands: TensorLike, optimize: bool | str | Sequence[object] | None = None
) -> Variable:
    """Return a sum of products over named dimensions, as :func:`numpy.einsum`.

    subscripts (str): The names of the dimensions of each operand, one letter each, and after ``->``
        the names of the result. Without ``->`` the result has the letters that occur once, in
        alphabetical order. ``...`` stands for dimensions that broadcast.
    operands (tensor_like): As many tensors as there are parts between commas.
    optimize (bool, str or sequence of tuple of int): In which order the products are taken: as a
        planner of the library opt_einsum finds, "optimal", "branch-all", "branch-2", "branch-1",
        "dp", "greedy", or "auto", which is what None and True say; from the left if False; or as a
        path says that :func:`numpy.einsum_path` returned.
    returns: Of the dtype that the operands promote to. The products are taken two by two, by matrix
        products. Planners know the lengths that the types tell.

    >>> ft.einsum("ij,jk->ik", [[1.0, 2.0]], [[3.0], [4.0]]).eval()
    array([[11.]])
    >>> ft.einsum("ii", [[1.0, 2.0], [3.0, 4.0]]).eval()
    array(5.)
    """
    variables = [as_tensor(x) for x in operands]
    inputs, output = _parsed(subscripts, variables)
    dtype = variables[0].dtype
    for x in variables[1:]:
        dtype = _core.promote(dtype, x.dtype)
    terms = [
        _without_repeats(Term(as_tensor(x, dtype), letters))
        for x, letters in zip(variables, inputs, strict=True)
    ]
    terms = _matched(terms)
    for pair in _plan(terms, output, optimize):
        chosen = [terms[at] for at in pair]
        terms = [term for at, term in enumerate(terms) if at not in pair]
        kept = set(output).union(*(term.letters for term in terms))
        terms.append(_contracted(chosen, kept))
    (last,) = terms
    surplus = "".join(letter for letter in last.letters if letter not in output)
    return last.without(surplus).ordered(output)


def _parsed(subscripts: str, operands: Sequence[Variable]) -> tuple[list[str], str]:
    """Return the letters of each operand and of the result, with letters for ``...``."""
    if not operands:
        raise ValueError("einsum takes one operand or more")
    text = subscripts.replace(" ", "")
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(operands):
        raise ValueError(
            f"einsum: {subscripts!r} names {len(inputs)} operands; given {len(operands)}"
        )
    unused = [letter for letter in string.ascii_letters if letter not in text]
    ranks = []
    for letters, x in zip(inputs, operands, strict=True):
        named = letters.replace("...", "", 1)
        if not all(letter in string.ascii_letters for letter in named):
            raise ValueError(f"einsum: {letters!r} in {subscripts!r} is not made of letters")
        ranks.append(x.ndim - len(named))
        if ranks[-1] < 0 or (ranks[-1] and "..." not in letters):
            raise ValueError(f"einsum: {letters!r} does not name the dimensions of {x.type}")
    most = max(ranks)
    spread = "".join(unused[:most])
    full = [
        letters.replace("...", spread[most - rank :])
        for letters, rank in zip(inputs, ranks, strict=True)
    ]
    if arrow:
        if most and "..." not in output:
            raise ValueError(
                f"einsum: the result of {subscripts!r} does not say where the dimensions of '...' "
                "are to stand; write '...' in it, and sum over them afterwards if they shall vanish"
            )
        output = output.replace("...", spread, 1)
    else:
        named = "".join(letters.replace("...", "") for letters in inputs)
        output = spread + "".join(sorted(one for one in set(named) if named.count(one) == 1))
    missing = set(output) - set("".join(full))
    if missing or len(set(output)) < len(output):
        raise ValueError(
            f"einsum: the result of {subscripts!r} has a dimension twice, or one of no operand"
        )
    return full, output


def _without_repeats(term: Term) -> Term:
    """Return the diagonal over dimensions that have one letter; their lengths are checked."""
    x, letters = term.x, term.letters
    sizes: dict[str, Variable] = {}
    for letter, size in zip(letters, lengths(x), strict=True):
        if static_length(sizes.setdefault(letter, size)) is None:
            sizes[letter] = size
    if len(sizes) < len(letters):
        x = specify_shape(x, [sizes[letter] for letter in letters])
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            x = diagonal(x, 0, first, second)
            letters = letters[:first] + letters[first + 1 : second] + letters[second + 1 :] + letter
    return Term(x, letters)


def _matched(terms: Sequence[Term]) -> list[Term]:
    """Return the operands with equal lengths along the dimensions of one letter.

    A length of 1 that meets others is left out: the operand is the same all along the dimension.
    """
    sizes: dict[str, Variable] = {}
    for term in terms:
        for axis, letter in enumerate(term.letters):
            size = length(term.x, axis)
            if static_length(sizes.get(letter, literal(1))) == 1 or (
                static_length(sizes[letter]) is None and static_length(size) not in (None, 1)
            ):
                sizes[letter] = size
    matched = []
    for term in terms:
        ones = [
            axis
            for axis, letter in enumerate(term.letters)
            if term.x.broadcastable[axis] and static_length(sizes[letter]) != 1
        ]
        letters = "".join(one for axis, one in enumerate(term.letters) if axis not in ones)
        x = squeeze(term.x, ones) if ones else term.x
        wanted = [sizes[letter] for letter in letters]
        matched.append(Term(x if wanted == [*lengths(x)] else broadcast_to(x, wanted), letters))
    return matched


def _plan(
    terms: Sequence[Term], output: str, optimize: bool | str | Sequence[object] | None
) -> list[tuple[int, ...]]:
    """Return which operands meet, product after product; each result is put behind the others."""
    count = len(terms)
    if optimize is False:
        path: Iterable[Sequence[int]] = [tuple(range(count))]
    elif optimize is None or isinstance(optimize, bool | str):
        name = optimize if isinstance(optimize, str) else "auto"
        if name not in _PLANNERS:
            known = ", ".join(map(repr, _PLANNERS))
            raise ValueError(f"optimize must be a bool, a path, or one of {known}; given {name!r}")
        path = _planned(terms, output, name) if count > 2 else [tuple(range(count))]
    else:
        path = _given_path(optimize, count)
    steps: list[tuple[int, ...]] = []
    left = count
    for step in path:
        # If several meet at once, they are taken two by two.
        positions = sorted(step)
        while len(positions) > 1:
            steps.append((positions[-2], positions[-1]))
            left -= 1
            positions = [*positions[:-2], left - 1]
    return steps


def _planned(terms: Sequence[Term], output: str, planner: str) -> Iterable[Sequence[int]]:
    """Return the path that a planner finds; lengths that no type tells are taken for equal."""
    from opt_einsum.paths import get_path_fn  # few programs have three operands

    # Dimensions are numbers here: sets of them have one order, whatever the seed of hashes.
    numbers = {letter: k for k, letter in enumerate(string.ascii_letters)}
    sizes: dict[int, int] = {}
    for term in terms:
        for letter, size in zip(term.letters, term.x.type.shape, strict=True):
            if size is not None:
                sizes[numbers[letter]] = size
            else:
                sizes.setdefault(numbers[letter], _UNKNOWN)
    inputs = [frozenset(numbers[letter] for letter in term.letters) for term in terms]
    path: Iterable[Sequence[int]] = get_path_fn(planner)(
        inputs, frozenset(numbers[letter] for letter in output), sizes
    )
    return path


def _given_path(path: Sequence[object], count: int) -> list[Sequence[int]]:
    """Return a path of NumPy's form, checked; that form may begin with a word."""
    given = list(path)
    if given and given[0] == "einsum_path":
        del given[0]
    steps: list[Sequence[int]] = []
    left = count
    for step in given:
        if not is_sequence(step) or not all(isinstance(at, int) for at in step):
            raise TypeError(f"a path is made of tuples of ints; given {path!r}")
        positions = sorted(at % left for at in step if -left <= at < left)
        if len(set(positions)) != len(step) or not step or (len(step) < 2 and left > 1):
            raise ValueError(f"the step {step!r} does not choose two or more of {left} operands")
        steps.append(positions)
        left -= len(step) - 1
    if left != 1:
        raise ValueError(f"the path {path!r} leaves {left} operands apart")
    return steps


def _contracted(pair: Sequence[Term], kept: set[str]) -> Term:
    """Return the product of two operands, summed over what is not kept."""
    a, b = (
        term.without("".join(one for one in term.letters if one not in kept | set(other.letters)))
        for term, other in (pair, pair[::-1])
    )
    shared = [letter for letter in a.letters if letter in b.letters]
    front = "".join(letter for letter in shared if letter in kept)
    summed = "".join(letter for letter in shared if letter not in kept)
    rows = "".join(letter for letter in a.letters if letter not in shared)
    columns = "".join(letter for letter in b.letters if letter not in shared)
    if not summed:
        return _by_elements(a, b, front + rows + columns)
    left, right = a.ordered(front + rows + summed), b.ordered(front + summed + columns)
    product_of = matmul(
        _grouped(left, len(front), len(rows)), _grouped(right, len(front), len(summed))
    )
    lengths_of = [length(left, at) for at in range(len(front) + len(rows))]
    lengths_of += [length(right, at) for at in range(len(front) + len(summed), right.ndim)]
    return Term(reshape(product_of, lengths_of), front + rows + columns)


def _grouped(x: Variable, front: int, first: int) -> Variable:
    """Return matrices behind ``front`` dimensions: ``first`` dimensions by all others."""
    sizes = [length(x, axis) for axis in range(x.ndim)]
    split = front + first
    return reshape(x, (*sizes[:front], product(sizes[front:split]), product(sizes[split:])))


def _by_elements(a: Term, b: Term, letters: str) -> Term:
    """Return the product of two operands by elements, with dimensions of all letters."""
    spread = []
    for term in (a, b):
        own = [letter for letter in letters if letter in term.letters]
        missing = [at for at, letter in enumerate(letters) if letter not in term.letters]
        spread.append(expand_dims(term.ordered("".join(own)), missing))
    return Term(_core.elemwise(scalar.mul, *spread), letters)
