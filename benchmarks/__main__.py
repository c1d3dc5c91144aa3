"""Run every benchmark in a process of its own, one JSON line each: ``python -m benchmarks [--quick] [NAME ...]``."""

from __future__ import annotations

import argparse
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    """The number of benchmarks that failed, as an exit code."""
    names = sorted(module.name for module in pkgutil.iter_modules([str(HERE)]) if not module.name.startswith("_"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer repetitions")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; all by default")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(names):
        parser.error(f"unknown benchmark {', '.join(sorted(unknown))}; known are {', '.join(names)}")
    return sum(not _run(name, arguments.quick) for name in arguments.names or names)


def _run(name: str, quick: bool) -> bool:
    code = f"import json; from benchmarks.{name} import run; print(json.dumps(run(quick={quick})))"
    # Not ``python -m``: a benchmark that is __main__ could not be imported by the processes that it starts.
    process = subprocess.run([sys.executable, "-c", code], cwd=HERE.parent, stdout=subprocess.PIPE, text=True)
    if process.returncode:
        print(json.dumps({"benchmark": name, "error": f"exit code {process.returncode}"}), flush=True)
    else:
        print(process.stdout.strip().splitlines()[-1], flush=True)
    return process.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
