"""Functions that work element by element.

Each applies one scalar op. Operands of unequal rank align at their last dimensions, as in NumPy; a
dimension broadcasts where the type says that its length is 1. NumPy's and the Array API's names
come first; PyTensor's are their aliases.

May import what :mod:`frazil.tensor` may. Start reading at
:mod:`frazil.tensor.elementwise.definition`, which makes a function of a scalar op.
"""
