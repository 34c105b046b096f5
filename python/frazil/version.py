"""The version, as installed."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("frazil")
except PackageNotFoundError:  # run from a checkout that is not installed
    __version__ = "0+unknown"
