"""The classes of variables and of their types, also under PyTensor's names."""

from frazil._core import Constant, SharedVariable, TensorType, Variable

TensorConstant = Constant
TensorSharedVariable = SharedVariable
TensorVariable = Variable

__all__ = [
    "Constant",
    "TensorConstant",
    "TensorSharedVariable",
    "TensorType",
    "TensorVariable",
    "Variable",
]
