"""Errors of inner graphs: the place where they were raised, in their messages."""

from __future__ import annotations

from traceback import walk_tb

from frazil.graph.answers import values_of


def tell_step(error: Exception, step: int) -> None:
    """Make an error of a scan's step say which step that is, as errors of compiled steps do.

    Errors of frazil begin with it. Those that others raise keep their text, and get a note.
    """
    if _is_own(error) and error.args and str(error) == error.args[0]:
        error.args = (f"step {step}: {error.args[0]}", *error.args[1:])
    else:
        error.add_note(f"in step {step}")


def _is_own(error: Exception) -> bool:
    """Whether no code but frazil's and NumPy's ran within the ``perform`` that failed."""
    modules: list[str] = []
    for frame, _ in walk_tb(error.__traceback__):
        if frame.f_code is values_of.__code__:
            modules.clear()
        modules.append(frame.f_globals.get("__name__", ""))
    return all(name.partition(".")[0] in ("frazil", "numpy") for name in modules)
