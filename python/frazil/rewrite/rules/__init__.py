"""The rules, one topic a module.

May import what :mod:`frazil.rewrite` may. Start reading at :mod:`frazil.rewrite.rules.negation`.

A rule keeps values: NaN, infinities, the signs of zeros and the wrapping of integers included.
Where a law holds for some dtypes only, the parameters are annotated with these.
"""
