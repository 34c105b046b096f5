"""The in-place planner: it chooses outputs of a pure graph that are written over inputs.

:func:`plan` takes a graph, the inputs that the caller donates, the variables that must keep their
values, and candidates ``(node, output, input)``: this output of this node might be written over
this input. It accepts each candidate that fits with those before it and returns a
:class:`Schedule`: the order of the nodes, the accepted candidates, when each buffer can be given
back, and for each other candidate a :class:`Refusal` with its proof. The graph stays as it is.
"""

from frazil._core import Refusal as Refusal
from frazil._core import Schedule as Schedule
from frazil._core import plan as plan
