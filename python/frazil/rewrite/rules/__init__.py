"""The rules, one topic a module. Each says its law first.

A rule keeps values: NaN, infinities, the signs of zeros and the wrapping of integers included.
Where a law holds for some dtypes only, the parameters are annotated with these.
"""
