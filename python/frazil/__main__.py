"""``python -m frazil``: the same as the command ``frazil``."""

import sys

from frazil.command import main

if __name__ == "__main__":
    sys.exit(main())
