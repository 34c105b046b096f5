"""A function whose lines are counted, by covered_run.py."""

scale = 2.0


def helper(x):
    if scale > 5:
        return x
    return x * scale


def fn(x):
    total = 0.0
    for k in range(3):
        total = total + helper(x) * k
    return total.sum()
