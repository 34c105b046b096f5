"""The ops that the operators of variables apply."""

import frazil._core as _core
import frazil.scalar as scalar

for _op in (
    *(scalar.add, scalar.sub, scalar.mul, scalar.truediv, scalar.floordiv, scalar.mod, scalar.pow),
    *(scalar.neg, scalar.abs, scalar.and_, scalar.or_, scalar.xor, scalar.invert),
    *(scalar.left_shift, scalar.right_shift),
    *(scalar.lt, scalar.le, scalar.gt, scalar.ge),
):
    _core.register_operator(_op.name, _op)
