"""Machine code of kernels, loaded by LLVM: just compiled, or from a cache.

Numba is not imported for it.
"""

from __future__ import annotations

import llvmlite.binding as llvm

from frazil.link.kernel.image import Image
from frazil.link.numba.externals import provide
from frazil.link.numba.machine import new_engine


class Library:
    """An object file in memory; gone when nothing refers to it any more.

    Raises
    ------
    OSError
        If it calls a function that the process does not have.
    """

    def __init__(self, image: Image) -> None:
        # LLVM ends the process where it finds a name nowhere.
        if missing := provide(image.pointers):
            raise OSError(f"there is no function {', '.join(missing)}")
        self.image = image
        self._engine = new_engine()
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(image.code))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """The address of the function of that name.

        Raises
        ------
        KeyError
            If there is none.
        """
        address: int = self._engine.get_function_address(name)
        if address == 0:
            raise KeyError(name)
        return address
