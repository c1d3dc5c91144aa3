"""privet: private learning on graphs whose nodes are people."""

from importlib.metadata import version

__version__ = version("privet")
