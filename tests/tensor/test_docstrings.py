"""Docstrings that are completed from what they tell of a function's results and parameters."""

import inspect

import pytest

from frazil.tensor.docstrings import described, described_like


def test_a_docstring_is_completed():
    @described
    def halves(a, b, cut=None, axes=(0, 1), *axis, **options):
        """Return two halves.

        They share no memory.

        a, b (tensor_like): Vectors.
        axes (int): The dimensions.
        cut (int): The place, told in more words than fit on a line of a docstring of this kind,
            which correspondingly goes on.
        options: What :func:`split` takes.
        returns low: The smaller half.
        returns high (list of Variable): The other.
        raises ValueError: If they are short.

        >>> low, high = ft.halves([1, 2])
        >>> low
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
            The place, told in more words than fit on a line of a docstring of this kind, which
            correspondingly goes on.
        axes : int, default (0, 1)
            The dimensions.
        *axis : int or tuple of int
            The dimensions to reduce; default: all.
        **options
            What :func:`split` takes.

        Returns
        -------
        low : Variable
            The smaller half.
        high : list of Variable
            The other.

        Raises
        ------
        ValueError
            If they are short.

        Examples
        --------
        >>> import frazil.tensor as ft
        >>> low, high = ft.halves([1, 2])
        >>> low
        """
    )


def test_a_function_has_the_parameters_of_one_that_is_like_it():
    @described
    def first(x, axis=0, k=1):
        """Return one.

        x (int): A number.
        axis (int): Of the first.
        k (int): Steps.
        returns: One.
        example: 1 -> 2
        """

    @described_like(first)
    def second(x, axis=0, k=1):
        """Return two.

        x (float): Another.
        returns (list of Variable): Two.
        example: 1 -> 3
        """

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


def test_neighbours_of_which_the_same_is_told_stand_together():
    @described
    def diagonal(axis1=0, offset=0, axis2=1, axis3="last"):
        """Return nothing.

        axis1, axis2, axis3 (int): Dimensions.
        offset (int): The offset.
        returns: None.
        example: 1 -> 1
        """

    assert "\naxis1 : int, default 0\n    Dimensions.\n" in diagonal.__doc__
    assert '\naxis2, axis3 : int, default 1 and "last"\n    Dimensions.\n' in diagonal.__doc__


def test_each_parameter_needs_a_description():
    def function(unknown):
        """Return nothing.

        returns: None.
        example: 1 -> 1
        """

    with pytest.raises(KeyError, match="unknown"):
        described(function)


def test_only_parameters_are_told():
    def function(x):
        """Return nothing.

        x (int): A number.
        y (int): None of its parameters.
        returns: None.
        example: 1 -> 1
        """

    with pytest.raises(TypeError, match=r"function\(\) has no parameter y"):
        described(function)


def test_an_example_that_begins_with_an_import_has_all_that_it_needs():
    @described
    def function():
        """Return nothing.

        returns: None.

        >>> import numpy as np
        >>> np.pi > 3
        True
        """

    assert function.__doc__.endswith(
        "Examples\n--------\n>>> import numpy as np\n>>> np.pi > 3\nTrue\n"
    )


def test_a_function_without_a_docstring_stays_so():
    @described
    def function(x): ...

    @described_like(function)
    def other(x): ...

    assert function.__doc__ is other.__doc__ is None
