"""Functions that work element by element.

Each applies one scalar op. Operands of unequal rank align at their last dimensions, as in NumPy; a
dimension broadcasts where the type says that its length is 1. NumPy's and the Array API's names
come first; PyTensor's are their aliases.
"""
