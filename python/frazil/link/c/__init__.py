"""Kernels in C, made by the system's compiler."""

from frazil.link.c.compiler import CCompiler as CCompiler
