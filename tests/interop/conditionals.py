"""``ifelse``, which lies elsewhere in newer versions of PyTensor."""

try:
    from pytensor.conditional.op import ifelse
except ModuleNotFoundError:
    from pytensor.ifelse import ifelse

__all__ = ["ifelse"]
