"""Rewriting: laws written with the real operators, applied until none applies.

May import ``scan`` and what lies below; never ``link`` or ``gradient``. Start reading at
:mod:`frazil.rewrite.rewriting`, and for the rules at :mod:`frazil.rewrite.catalog`.
"""

from frazil._core import RuleCycleError as RuleCycleError
from frazil.graph.namespace import publish as _publish
from frazil.rewrite.analysis import is_nonnegative as is_nonnegative
from frazil.rewrite.catalog import ALGEBRA as ALGEBRA
from frazil.rewrite.catalog import BLAS as BLAS
from frazil.rewrite.catalog import CANONICALIZE as CANONICALIZE
from frazil.rewrite.catalog import CONSTANT_FOLDING as CONSTANT_FOLDING
from frazil.rewrite.catalog import SPECIALIZE as SPECIALIZE
from frazil.rewrite.catalog import STABILIZE as STABILIZE
from frazil.rewrite.catalog import STRUCTURE as STRUCTURE
from frazil.rewrite.definition import Rule as Rule
from frazil.rewrite.definition import rule as rule
from frazil.rewrite.filling import fill as fill
from frazil.rewrite.filling import truth as truth
from frazil.rewrite.guard import Guard as Guard
from frazil.rewrite.guard import holds as holds
from frazil.rewrite.guard import not_constant as not_constant
from frazil.rewrite.guard import one_ring as one_ring
from frazil.rewrite.guard import reads_buffer as reads_buffer
from frazil.rewrite.guard import reads_one_element as reads_one_element
from frazil.rewrite.guard import same_dtype as same_dtype
from frazil.rewrite.guard import same_type as same_type
from frazil.rewrite.rewriting import Rewriting as Rewriting
from frazil.rewrite.rewriting import RuleCycleWarning as RuleCycleWarning
from frazil.rewrite.rewriting import Step as Step
from frazil.rewrite.rewriting import Trace as Trace
from frazil.rewrite.rewriting import rewrite as rewrite
from frazil.rewrite.sort import Bool as Bool
from frazil.rewrite.sort import Discrete as Discrete
from frazil.rewrite.sort import Float as Float
from frazil.rewrite.sort import Integer as Integer
from frazil.rewrite.sort import Known as Known
from frazil.rewrite.sort import KnownFloat as KnownFloat
from frazil.rewrite.sort import KnownInteger as KnownInteger
from frazil.rewrite.sort import Number as Number
from frazil.rewrite.sort import Signed as Signed
from frazil.rewrite.sort import SignedInteger as SignedInteger
from frazil.rewrite.sort import Sort as Sort
from frazil.rewrite.sort import Tensor as Tensor
from frazil.rewrite.sort import Unsigned as Unsigned
from frazil.rewrite.wildcard import Wildcard as Wildcard
from frazil.rewrite.wildcard import any_kind as any_kind
from frazil.rewrite.wildcard import any_of as any_of
from frazil.rewrite.wildcard import anything as anything

_publish(globals())
