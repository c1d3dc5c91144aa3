"""`privacy.yaml`: what a run promises, in the fields of the public registry of differential-privacy deployments.

``statement.schema.json`` beside this module says which fields there are, and which of the registry's each one is.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from privet.data.files import atomic_file
from privet.errors import InvalidData, PrivetError
from privet.privacy.guarantee import Guarantee

__all__ = ["check_statement", "read_statement", "statement", "statement_schema", "write_statement"]

FORMAT = "privet-privacy-2"


def statement(result: Mapping[str, Any]) -> dict[str, Any]:
    """The statement of a result document.

    ``result["collection"]`` is "simulation" (one program played everybody; the default) or "real".
    """
    guarantee = result["guarantee"]
    collection = result.get("collection", "simulation")
    measures = _MEASURES[guarantee["model"]]
    return {
        "format": FORMAT,
        "software": f"privet {result['version']}",
        "build": result.get("build", "unknown"),
        "system": result["system"],
        "dataset": result["dataset"],
        "collection": collection,
        "flavour": "pure DP" if not guarantee["delta"] else "approximate DP",
        "deployment_model": guarantee["model"],
        "privacy_unit": guarantee["unit"],
        "adjacency": guarantee["adjacency"],
        "epsilon": guarantee["epsilon"],
        "delta": guarantee["delta"],
        "published_epsilon": guarantee["published_epsilon"],
        "in_words": Guarantee.from_dict(dict(guarantee)).in_words(),
        "budget": [_share(entry) for entry in result.get("ledger", [])],
        "mechanisms": list(result["mechanisms"]),
        **measures,
        "post_processing": measures["post_processing"] + (_EXEMPT if guarantee.get("exempt") else ""),
        "composition": _composition(guarantee, result.get("ledger", [])) or measures["composition"],
        "hyperparameter_tuning": _tuning(guarantee["model"], len(result.get("tuning", []))),
        "randomness": _RANDOMNESS[guarantee["model"], collection],
        "unprotected": list(guarantee["unprotected"]),
    }


_MEASURES = {
    "local": {
        "composition": "The budgets of the parts add (sequential composition); a device reports once and repeats the "
        "same report when it is asked again.",
        "post_processing": "All that the server does with the reports and with what is public is post-processing and "
        "costs nothing more.",
        "floating_point": "Rounding cannot weaken the promise: a report is a symbol of a finite alphabet, drawn with "
        "integer weights whose ratios were checked exactly.",
        "actors": "Each person trusts their own device and the program on it: people who took part with the Python "
        "client need not trust the operator, and people who used the page must trust that the server delivered an "
        "honest page.",
        "release": "The reports are given out once, about data that do not change; nobody can ask further questions.",
        "scope": "The promise is about one collection; figures over several seeds and controls without privacy, which "
        "stand beside a result, would need more.",
    },
    "central": {
        "composition": "The privacy losses of all training steps are composed as distributions, and every rounding is "
        "made towards more loss.",
        "post_processing": "Predictions cost nothing more: they read the released model and nodes that are not "
        "protected.",
        "floating_point": "Clipped sums are exact integers on a public grid, and their Gaussian noise is drawn in "
        "integers too. How far it is from real Gaussian noise is paid for in epsilon and delta. SML noise, which is "
        "there to reproduce a paper, is in double precision and proven for real numbers only.",
        "actors": "A holder of all data is trusted with it; those who see the released model need not be trusted.",
        "release": "The trained model is given out once, about data that do not change; nobody can ask further "
        "questions.",
        "scope": "The promise is about one training run; figures over several seeds and controls without privacy, "
        "which stand beside a result, would need more.",
    },
}

_MEASURES["hybrid"] = _MEASURES["local"] | {
    "post_processing": "All that the server does with the reports, with the aggregator's noisy sums and with what is "
    "public is post-processing and costs nothing more.",
    "floating_point": "A report is a symbol of a finite alphabet, drawn with integer weights whose ratios were checked "
    "exactly. The aggregator's sums are exact integers on a public grid, and their noise is drawn in integers too; how "
    "far it is from real Gaussian noise is paid for in epsilon and delta.",
    "actors": "Each person trusts their own device and the program on it. Labelled people also trust the aggregator, "
    "who sees their features; nobody else need be trusted.",
}

_EXEMPT = " It also sees the data of those whom the promise does not cover, as they are."

_RANDOMNESS = {
    ("local", "simulation"): "A simulation draws from a seeded generator; a device draws from its operating system.",
    ("local", "real"): "privet's own clients draw from the operating system (Python) or from the browser's "
    "cryptographic source (page). The server cannot know what a device ran.",
    ("hybrid", "simulation"): "A simulation draws from a seeded generator; devices and an aggregator draw from their "
    "operating systems.",
    ("central", "simulation"): "A simulation draws from a seeded generator; a run without a seed draws from the "
    "operating system.",
    ("central", "real"): "The random numbers were drawn from the operating system.",
}


def statement_schema() -> dict[str, Any]:
    """The JSON Schema that every statement is valid against."""
    return dict(_schema())


def check_statement(document: object, where: str) -> dict[str, Any]:
    """The document, if it is a statement: every field that the schema demands, each of its type."""
    schema = _schema()
    if not isinstance(document, dict):
        raise InvalidData(where, "a privacy statement, with fields such as epsilon and unit", type(document).__name__)
    missing = [name for name in schema["required"] if name not in document]
    if missing:
        raise InvalidData(f"The {where} is no privacy statement: it lacks {', '.join(missing)}.")
    for name, rule in schema["properties"].items():
        if name in document and not _fits(document[name], rule):
            expected = "one of " + ", ".join(rule["enum"]) if "enum" in rule else rule["type"]
            raise InvalidData(f"field {name} of the {where}", str(expected), document[name])
    return document


def read_statement(path: str | Path) -> dict[str, Any]:
    """The statement in a privacy.yaml, of a result.json, or of a directory that contains the former."""
    source = Path(path)
    if source.is_dir():
        found = [source / "privacy.yaml"] if (source / "privacy.yaml").is_file() else [*source.glob("*.privacy.yaml")]
        if len(found) != 1:
            raise InvalidData(f"directory '{source.name}'", "one with a privacy.yaml", f"{len(found)} statements")
        source = found[0]
    try:
        text = source.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidData(f"{source.name} is no text. Give a result or a privacy statement.") from None
    if source.suffix in (".yaml", ".yml"):
        return check_statement(_parse_yaml(text, source.name), f"file '{source.name}'")
    return check_statement(_of_result(text, source.name), f"statement of '{source.name}'")


def write_statement(result: Mapping[str, Any], path: str | Path) -> None:
    """Write the statement as YAML."""
    import yaml

    with atomic_file(path) as file:
        file.write_text(yaml.safe_dump(statement(result), sort_keys=False, allow_unicode=True, width=110))


def _composition(guarantee: Mapping[str, Any], ledger: Sequence[Mapping[str, Any]]) -> str:
    """Tell how the parts make up the whole where they do not simply add; empty where they do."""
    if guarantee["model"] == "central":
        return ""
    if not guarantee["epsilon"]:
        return "Nothing is asked of anybody, so no budget is spent."
    told = []
    if sum(line["epsilon"] for line in ledger) > guarantee["epsilon"] * (1 + 1e-9):
        told.append(
            "Some parts are alternatives: nobody is asked both, or they are about other pairs of people. Of these the "
            "dearest counts."
        )
    if guarantee["model"] == "hybrid":
        told.append(
            "A part that a trusted aggregator randomises is about labelled people only; everybody else pays less than "
            "the sum."
        )
    return " ".join([_MEASURES["local"]["composition"], *told]) if told else ""


def _share(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: entry[name] for name in ("part", "unit", "mechanism", "epsilon", "delta")} | {
        "how": entry.get("how", "")
    }


def _tuning(model: str, trials: int) -> str:
    if model == "central":
        return "The choice of settings is not covered: if protected data decided it, that would have to be paid for."
    if not trials:
        return "No settings were searched for on the collected data."
    return (
        f"{trials} settings were tried on the validation labels of a collection of its own, which costs a second "
        "budget of the same size, included here; that collection's nodes include test nodes of the reported figures."
    )


@cache
def _schema() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((files("privet.privacy") / "statement.schema.json").read_text("utf-8"))
    return document


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def _fits(value: object, rule: Mapping[str, Any]) -> bool:
    """As much of JSON Schema as ours uses."""
    names = [rule["type"]] if isinstance(rule["type"], str) else rule["type"]
    if isinstance(value, bool) or not isinstance(value, tuple(kind for name in names for kind in _TYPES[name])):
        return False
    if isinstance(value, int | float):
        return math.isfinite(value) and rule.get("minimum", value) <= value <= rule.get("maximum", value)
    if isinstance(value, list):
        return all(_fits(item, rule["items"]) for item in value)
    if isinstance(value, dict):
        named = rule["properties"]
        return set(rule["required"]) <= value.keys() and all(_fits(value[key], named[key]) for key in rule["required"])
    return value is None or value in rule.get("enum", [value])


def _parse_yaml(text: str, name: str) -> object:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidData(f"file '{name}'", "YAML", str(error)) from None


def _of_result(text: str, name: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
        return statement(document)
    except (ValueError, KeyError, TypeError, AttributeError, PrivetError):
        raise InvalidData(
            f"The file '{name}' is no result. Give a result.json of privet run, a privacy.yaml or a directory with one."
        ) from None
