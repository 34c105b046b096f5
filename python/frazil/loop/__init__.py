"""Loops: a graph that is applied again and again."""
