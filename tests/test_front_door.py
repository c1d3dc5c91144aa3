"""The package's front door: every name is there, nothing heavy is imported before it is used."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import privet

HEAVY = ["matplotlib", "numpy", "pyarrow", "pydantic", "rich", "scipy", "sqlalchemy", "starlette", "torch", "typer"]
DEVICE = [
    "privet.errors", "privet.registry", "privet.data", "privet.privacy", "privet.mechanisms", "privet.release",
    "privet.collection.study.manifest", "privet.collection.study.tokens", "privet.collection.device.client",
    "privet.collection.device.consent", "privet.collection.device.ledger", "privet.collection.device.participant",
    "privet.cli", "privet.cli.ledger", "privet.cli.participate",
]  # fmt: skip
REFUSED = ["matplotlib", "pyarrow", "sqlalchemy", "starlette", "torch", "torch_geometric"]


def run(code: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent.parent, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def without(*libraries: str) -> str:
    """Code after which importing one of the libraries fails as if it were not installed."""
    return f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {libraries}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
"""


def test_the_table_is_sorted_and_complete() -> None:
    names = list(privet._HOME)
    assert sorted(names) == names
    assert privet.__all__ == ["__version__", *names]
    assert set(dir(privet)) >= set(privet.__all__)


@pytest.mark.parametrize("name", privet.__all__)
def test_every_name_is_there(name: str) -> None:
    found = getattr(privet, name)
    assert name == "__version__" or found.__name__ == name
    assert vars(privet)[name] is found  # the second use costs nothing


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(inspect.getsource(privet))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    assert {alias.asname: node.module for node in imports for alias in node.names} == privet._HOME


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'privet' has no attribute 'nothing'"):
        privet.nothing  # noqa: B018


FOR_MECHANISMS = ("privet.mechanisms.core", "privet.mechanisms.primitives")  # what the author of a mechanism builds on


@pytest.mark.parametrize("path", sorted((Path(__file__).parent.parent / "examples").rglob("*.py")), ids=str)
def test_examples_import_from_front_doors(path: Path) -> None:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    imported = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    deep = [name for name in imported if name.startswith("privet.") and name.count(".") > 1]
    assert [name for name in deep if not name.startswith(FOR_MECHANISMS)] == []


def test_importing_privet_imports_nothing_heavy() -> None:
    assert run(f"import sys, privet; print([name for name in {HEAVY} if name in sys.modules])") == "[]"


def test_importing_every_system_does_not_import_torch_geometric() -> None:
    systems = [name for name, home in privet._HOME.items() if home.startswith("privet.systems")]
    code = f"import sys, privet; [getattr(privet, name) for name in {systems}]; print('torch' in sys.modules, "
    assert run(code + "'torch_geometric' in sys.modules)") == "True False"


def test_a_device_imports_none_of_the_server_s_and_learner_s_libraries() -> None:
    code = f"import importlib; [importlib.import_module(name) for name in {DEVICE}]; print('imported')"
    assert run(without(*REFUSED) + code) == "imported"


def test_a_name_whose_library_is_missing_says_which_extra_brings_it() -> None:
    code = """
import privet
try:
    privet.LPGNN
except ModuleNotFoundError as error:
    print(error)
"""
    told = run(without("torch") + code)
    assert told == "privet.LPGNN needs the extra 'learning': pip install 'privet[learning]'."


@pytest.mark.parametrize(
    ("missing", "command", "arguments", "extra"),
    [
        ("torch", ["run"], ["lpgnn", "--dataset", "x.npz"], "learning"),
        ("sqlalchemy", ["study", "serve"], ["folder"], "collection"),
    ],
)
def test_a_command_whose_library_is_missing_says_which_extra_brings_it(
    missing: str, command: list[str], arguments: list[str], extra: str
) -> None:
    code = without(missing) + f"sys.argv = ['privet', *{command + arguments}]; import privet.cli; privet.cli.main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=Path(__file__).parent.parent
    )
    sentence = f"privet: privet {' '.join(command)} needs the extra '{extra}': pip install 'privet[{extra}]'.\n"
    assert (done.returncode, done.stderr) == (2, sentence)
