"""Loops of elements that several tests use."""

import frazil.tensor as ft
from frazil.scalar import ScalarLoop


def newton():
    """Kepler's equation, E - e sin E = M, solved for E by Newton's method."""
    anomaly, m, e = ft.scalar("anomaly"), ft.scalar("m"), ft.scalar("e")
    step = (anomaly - e * ft.sin(anomaly) - m) / (1 - e * ft.cos(anomaly))
    return ScalarLoop([anomaly], [anomaly - step], [m, e], until=ft.abs(step) < 1e-12)
