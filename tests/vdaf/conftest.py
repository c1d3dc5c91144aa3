"""Without the libraries of the extra 'sums' there is nothing to test here."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("Crypto") and find_spec("numba") else ["test_*.py"]
