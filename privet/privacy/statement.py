"""`privacy.yaml`: what a run promises, in the fields of the public registry of differential-privacy deployments.

:class:`Statement` says which fields there are, and which of the registry's each one is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from privet.data.files import atomic_file
from privet.errors import InvalidData, PrivetError, one_line
from privet.privacy.guarantee import Guarantee

__all__ = ["Statement", "check_statement", "read_statement", "statement", "statement_schema", "write_statement"]

Words = Annotated[str, Field(min_length=1)]
Epsilon = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Delta = Annotated[float, Field(ge=0, le=1)]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


class Share(_Document):
    """A share of the privacy budget."""

    part: Words
    """What this share protects: features, label, neighbour list, length of the list, or training."""
    unit: Words
    """What this epsilon is for: a feature vector, a label, a relationship (both of its ends may report it), a node.
    Registry: privacy_unit."""
    mechanism: Words
    """The mechanism that spends it."""
    epsilon: Epsilon
    delta: Delta
    how: str = ""
    """How the mechanism randomises, in words."""


class Statement(_Document):
    """The privacy statement of a privet run.

    The fields of the public registry of differential-privacy deployments (the registry's own names are in the
    descriptions, below deployment), and a few more.
    """

    format: Literal["privet-privacy-2"]
    """The version of this format."""
    software: Words
    """Name and version of the program that made the statement."""
    build: Words
    """The digest of the program's own files, which ties the statement to one build."""
    system: Words
    """The learning system, by its name on the command line."""
    dataset: Words
    """What was learned from, by the name that the operator gave it. Registry: product.name."""
    collection: Literal["simulation", "real"]
    """Whether one program played everybody (simulation) or people's devices, or a holder's data, took part (real)."""
    flavour: Literal["pure DP", "approximate DP"]
    """Registry: dp_flavor.name."""
    deployment_model: Literal["local", "central", "hybrid", "two servers"]
    """Who sees raw data: nobody but its owner (local), a trusted holder (central), or a trusted aggregator of some
    people's data beside devices that randomise (hybrid), or nobody unless two servers work together (two servers).
    Registry: model.model_name."""
    privacy_unit: Words
    """What one guarantee protects. Registry: privacy_loss.privacy_unit."""
    adjacency: Words
    """Which two inputs an observer cannot tell apart. Registry: dp_flavor.input_metric and bound_on_input_distance."""
    epsilon: Epsilon
    """What holds, for the whole unit. Registry: privacy_loss.privacy_parameters.epsilon."""
    delta: Delta
    """Registry: privacy_loss.privacy_parameters.delta."""
    published_epsilon: Epsilon | None
    """What the system's publication claims for the same settings, where that differs; for comparison only."""
    in_words: Words
    """The guarantee as one sentence. Registry: privacy_loss.privacy_parameters_description."""
    budget: list[Share]
    """How epsilon and delta divide. Registry: accounting.composition."""
    mechanisms: list[Words]
    """Registry: implementation.mechanisms."""
    composition: Words
    """How the parts add up. Registry: accounting.composition."""
    post_processing: Words
    """What is done with the protected output. Registry: accounting.post_processing."""
    floating_point: Words
    """What is done against the errors of finite precision. Registry: implementation.mechanisms."""
    actors: Words
    """Who takes part, and who trusts whom. Registry: model.actors."""
    release: Words
    """Registry: model.release_type, data_source_type and access_type."""
    scope: Words
    """How far the statement reaches."""
    hyperparameter_tuning: Words
    """Registry: implementation.pre_processing_eda_hyperparameter_tuning."""
    randomness: Words
    """Where the random bits came from. Registry: implementation.mechanisms."""
    unprotected: list[Words]
    """What an observer learns all the same. Registry: dp_flavor.unprotected_quantities."""


def statement(result: Mapping[str, Any]) -> dict[str, Any]:
    """The statement of a result document.

    ``result["collection"]`` is "simulation" (one program played everybody; the default) or "real".
    """
    guarantee = result["guarantee"]
    collection = result.get("collection", "simulation")
    measures = _MEASURES[guarantee["model"]]
    return {
        "format": "privet-privacy-2",
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

_MEASURES["two servers"] = _MEASURES["local"] | {
    "post_processing": "All that anybody does with the reports, with the noisy sums and with what is public is "
    "post-processing and costs nothing more.",
    "floating_point": "A report is a symbol of a finite alphabet, drawn with integer weights whose ratios were checked "
    "exactly. Sums are exact integers, and the noise of each server is drawn in integers on a public grid; how far it "
    "is from real Gaussian noise is paid for in epsilon and delta.",
    "actors": "Each person trusts their own device and the program on it, and that at least one of the two servers "
    "does not work together with the other and adds its noise. Each server adds the whole noise.",
}

_EXEMPT = " It also sees the data of those whom the promise does not cover, as they are."

_RANDOMNESS = {
    ("local", "simulation"): "A simulation draws from a seeded generator; a device draws from its operating system.",
    ("local", "real"): "privet's own clients draw from the operating system (Python) or from the browser's "
    "cryptographic source (page). The server cannot know what a device ran.",
    ("hybrid", "simulation"): "A simulation draws from a seeded generator; devices and an aggregator draw from their "
    "operating systems.",
    ("two servers", "simulation"): "A simulation draws from a seeded generator; devices and servers draw from their "
    "operating systems.",
    ("central", "simulation"): "A simulation draws from a seeded generator; a run without a seed draws from the "
    "operating system.",
    ("central", "real"): "The random numbers were drawn from the operating system.",
}


def statement_schema() -> dict[str, Any]:
    """Return the JSON Schema that every statement is valid against."""
    return Statement.model_json_schema()


def check_statement(document: object, where: str) -> dict[str, Any]:
    """Return the document, if it is a statement: every field is there, and each has its type.

    Args:
        document: What was read.
        where: The place it was read from, such as "file 'privacy.yaml'".
    """
    if not isinstance(document, dict):
        raise InvalidData(where, "a privacy statement, with fields such as epsilon and unit", type(document).__name__)
    try:
        Statement.model_validate(document)
    except ValidationError as error:
        found = error.errors(include_url=False)
        missing = [str(each["loc"][0]) for each in found if each["type"] == "missing" and len(each["loc"]) == 1]
        if missing:
            raise InvalidData(f"The {where} is no privacy statement: it lacks {', '.join(missing)}.") from None
        field = ".".join(map(str, found[0]["loc"]))
        raise InvalidData(f"The field {field} of the {where} is not valid: {one_line(found[0]['msg'])}.") from None
    return document


def read_statement(path: str | Path) -> dict[str, Any]:
    """The statement in a privacy.yaml, of a result.json, or of a directory that contains the former."""
    source = Path(path)
    if source.is_dir():
        found = [source / "privacy.yaml"] if (source / "privacy.yaml").is_file() else [*source.glob("*.privacy.yaml")]
        if len(found) != 1:
            many = "no privacy.yaml" if not found else f"{len(found)} privacy statements: name one of them"
            raise InvalidData(f"The directory '{source.name}' has {many}. Of a study ask for the impact assessment.")
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
    if guarantee["model"] == "two servers":
        told.append(
            "A part that two servers randomise is about those whose numbers are in the sum; everybody else pays less "
            "than the sum."
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
