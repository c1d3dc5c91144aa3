"""Help texts in plain columns, with the options of a command in groups."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

__all__ = ["GROUPS", "GroupedCommand"]

GROUPS: dict[str, tuple[str, ...]] = {
    "Budgets": (
        "epsilon", "epsilon_features", "epsilon_labels", "epsilon_edges", "epsilon_per_feature", "class_sums", "delta",
        "target_epsilon", "budget",
    ),
    "The population": ("dimension", "low", "high", "classes", "categories", "num_nodes", "nodes", "public_features"),
    "The mechanism": ("sample", "steps", "cap", "most", "fill", "one_sided"),
    "The training": ("sigma", "noise_multiplier", "noise", "rate", "multiplier", "max_degree"),
    "The system": ("panel", "pilot", "scorer", "defence", "backbone", "hops", "others"),
    "The audit": ("claim", "one_run", "sequential", "canaries", "runs"),
    "Data": ("dataset", "data", "split", "group_columns", "graph", "labels", "schema"),
    "Measuring": (
        "seed", "seeds", "workers", "store", "fresh", "controls", "cluster", "insecure_cluster", "quick",
    ),
    "Output": ("as_json", "out", "plot"),
}  # fmt: skip
"""The groups of options by the names of their parameters; all others stand under Options."""

_GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}
_FEW = 8  # options that need no groups


class GroupedCommand(TyperCommand):
    """A command whose help lists options in groups, if there are more than a few."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write a section for the arguments, one for each group of options, and one for the other options."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], **{group: [] for group in GROUPS}, "Options": []}
        shown = [each for each in self.get_params(ctx) if each.get_help_record(ctx) is not None]
        many = sum(each.param_type_name == "option" for each in shown) > _FEW
        for each in shown:
            group = _GROUP_OF.get(each.name or "", "Options") if many else "Options"
            record = each.get_help_record(ctx)
            assert record is not None
            sections["Arguments" if each.param_type_name == "argument" else group].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
