"""Sums over all, over the columns and over the rows of ten million float64: memory alone."""

import numpy as np

SHAPE = (3163, 3162)


def arguments():
    return (np.random.default_rng(1).normal(size=SHAPE),)


def numpy(m):
    return m.sum(), m.sum(axis=0), m.sum(axis=1)


def frazil():
    import frazil.tensor as ft

    m = ft.matrix("m")
    return [m], [m.sum(), m.sum(axis=0), m.sum(axis=1)]


def pytensor():
    import pytensor.tensor as pt

    m = pt.matrix("m")
    return [m], [m.sum(), m.sum(axis=0), m.sum(axis=1)]


def jax():
    def work(m):
        return m.sum(), m.sum(axis=0), m.sum(axis=1)

    return work
