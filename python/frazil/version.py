"""The version of this frazil; a test compares it with the packages' versions.

Reading it from the installed package's metadata would import parsers of mail and of zip archives.
"""

__version__ = "0.1.0"
