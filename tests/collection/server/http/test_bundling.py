"""One script from many modules: it does what the modules do, in their order, and its map names their lines."""

import json
import shutil
import subprocess

import pytest

from privet.collection.server.http.bundling import bundle
from privet.collection.server.http.pages import Pages

MODULES = {
    "entry.js": """import {
  add as plus,
  VERSION,
} from "./lib/sums.js";
import "./lib/effect.js";
export { add } from "./lib/sums.js";
const hidden = 1;
export const result = plus(hidden, 2);
console.log(`${result} ${VERSION} ${globalThis.effects}`);
fail();
function fail() { throw new Error("here"); }
""",
    "lib/sums.js": """import { hidden as most } from "./other.js";
export const VERSION = "v1";
export async function later() {}
export class Sum {}
export function add(a, b) { return Math.min(a + b, most); }
const hidden = "another scope";
export { hidden as own };
""",
    "lib/other.js": 'const hidden = 10;\nexport { hidden };\nglobalThis.effects = ["other"];\n',
    "lib/effect.js": 'globalThis.effects.push("effect");\n',
    "alone.js": "never();\n",
}


def test_scopes_order_and_names_are_those_of_modules(tmp_path):
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    made = bundle(MODULES, "entry.js")
    assert "never" not in made.script
    (tmp_path / "made.mjs.map").write_text(made.source_map)
    (tmp_path / "made.mjs").write_text(made.script + "//# sourceMappingURL=made.mjs.map\n")
    done = subprocess.run(["node", "--enable-source-maps", tmp_path / "made.mjs"], capture_output=True, text=True)
    assert done.stdout == "3 v1 other,effect\n"
    assert "/web/entry.js:11" in done.stderr  # the line that fails, in the module as it was written
    assert json.loads(made.source_map)["sources"][-1] == "/web/entry.js"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('import * as all from "./a.js";', "not understood"),
        ("export default 1;", "not understood"),
        ("export let changing = 1;", "not understood"),
        ('import { b } from "./entry.js";', "imports itself"),
        ('import { b } from "./missing.js";', "no such module"),
    ],
)
def test_what_it_does_not_understand_is_an_error_when_the_collector_starts(text, problem):
    with pytest.raises(ValueError, match=problem):
        bundle({"entry.js": text}, "entry.js")


def test_every_line_of_every_module_of_the_page_is_in_its_script():
    contents = Pages.read().contents
    (name,) = (path for path in contents if path.startswith("participate-") and path.endswith(".js"))
    script, sources = (
        contents[name].decode(),
        json.loads(contents[f"{name}.map" if f"{name}.map" in contents else _map(contents)])["sources"],
    )
    assert len(sources) > 50
    for path in sources:
        functions = [
            line for line in contents[path.removeprefix("/web/")].decode().split("\n") if line.startswith("function ")
        ]
        assert all(line in script for line in functions), path


def _map(contents):
    return next(path for path in contents if path.startswith("participate-") and path.endswith(".map"))
