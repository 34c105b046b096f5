"""``tanh`` as a function of elements that compilers make one of registers.

Its steps are those of the runtime's, so both have the same bits. They need no table, only fused
multiplications: C's kernels take them where the processor has AVX2, and there take half of the time
of the C library's function of registers. ``tanh x`` is ``(1 - w) / (1 + w)`` with
``w = exp(-2 |x|)``, and ``w`` is a power of two times ``1 + more``.
"""

from __future__ import annotations

from collections.abc import Mapping

from frazil.graph.dataclass import dataclass
from frazil.link.c.polynomial import polynomial
from frazil.link.c.static_function import StaticFunction


@dataclass(frozen=True, slots=True)
class _Constants:
    """The constants of the algorithm for one dtype, as texts."""

    magic: str  # added to a number, it leaves a whole one with the bias of exponents
    log2_low: str
    polynomial: tuple[str, ...]  # of (exp(r) - 1 - r) / r**2, from the lowest power on
    fraction: int  # the bits of a fraction
    bits: str  # an integer of as many bits
    fma: str
    end: str  # what literals end with


_CONSTANTS: Mapping[str, _Constants] = {
    "f8": _Constants(
        magic="6755399441056767.0",
        log2_low="-2.3190468138462996e-17",
        polynomial=(
            *("0.5", "0.1666666666666667", "0.04166666666666667", "0.008333333333326129"),
            *("0.0013888888888883744", "0.00019841269874844894", "2.4801587325565073e-05"),
            *("2.7557255369427714e-06", "2.755727362113095e-07", "2.510522981321569e-08"),
            "2.0914696114722447e-09",
        ),
        fraction=52,
        bits="u8",
        fma="__builtin_fma",
        end="",
    ),
    "f4": _Constants(
        magic="12583039.0",
        log2_low="1.9046542e-9",
        polynomial=(
            *("0.5", "0.16666667", "0.041666463", "0.0083333105", "0.001393366", "0.00019891003"),
        ),
        fraction=23,
        bits="u4",
        fma="__builtin_fmaf",
        end="f",
    ),
}

_TEXT = """\
INLINE $T $self($T x) {{
  const $T size = -2 * $fabs(x), y = {decayed} > size ? {decayed} : size;
  const $T t = {fma}(y, {per_log2}, {magic}), k = t - {magic};
  const $T r = {fma}(k, {log2_low}, {fma}(k, {log2_high}, y)), s = r * r;
  const $T q = {polynomial};
  const $T more = {fma}(s, q, r);
  {bits} exponent;
  $T w;
  __builtin_memcpy(&exponent, &t, sizeof t);
  exponent <<= {fraction};
  __builtin_memcpy(&w, &exponent, sizeof w);
  return $copysign({fma}(w, more, w - 1) / {fma}(w, more, w + 1), x);
}}
"""


def _static_function(code: str) -> StaticFunction:
    own = _CONSTANTS[code]
    return StaticFunction(
        _TEXT.format(
            fma=own.fma,
            decayed=f"-50.0{own.end}",
            per_log2=f"1.4426950408889634{own.end}",
            magic=f"{own.magic}{own.end}",
            log2_high=f"-0.6931471805599453{own.end}",
            log2_low=f"{own.log2_low}{own.end}",
            polynomial=polynomial(
                [f"{term}{own.end}" for term in own.polynomial],
                own.fma,
                by_pairs=own.fraction != 23,
            ),
            bits=own.bits,
            fraction=own.fraction,
        )
    )


TANH: Mapping[str, StaticFunction] = {code: _static_function(code) for code in _CONSTANTS}
"""By the C type of the elements."""
