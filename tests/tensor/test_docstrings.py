"""Docstrings that are completed from the descriptions of a function's results and parameters."""

import inspect

import pytest

from frazil.tensor.docstrings import described


def test_a_docstring_is_completed():
    @described(
        {"low": "The smaller half.", "high": "The other."},
        """
        >>> low, high = ft.halves([1, 2])
        """,
        both="tensor_like: Vectors.",
        raises={"ValueError": "If they are short."},
        axes="int: The dimensions.",
        cut="int: The place.",
    )
    def halves(a, b, cut=None, axes=(0, 1), *axis):
        """Return two halves.

        They share no memory.
        """

    assert inspect.getdoc(halves) == inspect.cleandoc(
        """
        Return two halves.

        They share no memory.

        Parameters
        ----------
        a, b : tensor_like
            Vectors.
        cut : int, optional
            The place.
        axes : int, default (0, 1)
            The dimensions.
        *axis : int or tuple of int
            The dimensions to reduce; default: all.

        Returns
        -------
        low : Variable
            The smaller half.
        high : Variable
            The other.

        Raises
        ------
        ValueError
            If they are short.

        Examples
        --------
        >>> import frazil.tensor as ft
        >>> low, high = ft.halves([1, 2])
        """
    )


def test_a_function_has_the_parameters_of_one_that_is_like_it():
    @described("One.", "1 -> 2", x="int: A number.", axis="int: Of the first.", k="int: Steps.")
    def first(x, axis=0, k=1): ...

    @described("Two.", "1 -> 3", like=first, returns="list of Variable", x="float: Another.")
    def second(x, axis=0, k=1):
        """Return two."""

    told = inspect.getdoc(second).partition("Parameters\n----------\n")[2]
    assert told == inspect.cleandoc(
        """
        x : float
            Another.
        axis : int, default 0
            Of the first.
        k : int, default 1
            Steps.

        Returns
        -------
        list of Variable
            Two.

        Examples
        --------
        >>> import frazil.tensor as ft
        >>> ft.second(1).eval()
        array(3)
        """
    )


def test_neighbours_with_one_description_stand_together():
    @described("None.", "1 -> 1", both="int: Dimensions.")
    def diagonal(axis1=0, axis2=1): ...

    assert "\naxis1, axis2 : int, default 0 and 1\n    Dimensions.\n" in diagonal.__doc__


def test_each_parameter_needs_a_description():
    with pytest.raises(KeyError, match="unknown"):

        @described("None.", "1 -> 1")
        def function(unknown): ...


def test_an_example_that_begins_with_an_import_has_all_that_it_needs():
    @described("None.", ">>> import numpy as np\n>>> np.pi > 3\nTrue")
    def function(): ...

    assert function.__doc__.endswith(
        "Examples\n--------\n>>> import numpy as np\n>>> np.pi > 3\nTrue\n"
    )
