"""Derivatives of graphs: vector-Jacobian products, Jacobian-vector products, Jacobians.

May import ``scan`` and what lies below. Start reading at :mod:`frazil.gradient.reverse`.
"""

from frazil.gradient import (  # noqa: F401  (they register rules)
    inner_graphs,
    linalg,
    scalar_loop,
    scan,
)
from frazil.gradient.jacobians import hessian as hessian
from frazil.gradient.jacobians import jacobian as jacobian
from frazil.gradient.products import Lop as Lop
from frazil.gradient.products import Rop as Rop
from frazil.gradient.products import hessian_vector_product as hessian_vector_product
from frazil.gradient.products import pullback as pullback
from frazil.gradient.products import pushforward as pushforward
from frazil.gradient.registry import pullback_of as pullback_of
from frazil.gradient.reverse import DisconnectedInputError as DisconnectedInputError
from frazil.gradient.reverse import NotDifferentiableError as NotDifferentiableError
from frazil.gradient.reverse import disconnected_grad as disconnected_grad
from frazil.gradient.reverse import grad as grad
from frazil.gradient.reverse import zero_grad as zero_grad
from frazil.graph.namespace import publish as _publish

_publish(globals())
