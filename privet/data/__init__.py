"""Public declarations about data, graphs, dataset files, splits and synthetic graphs."""

from privet.data.answer_codes import code_answers
from privet.data.datasets import KNOWN, load, save
from privet.data.edge_lists import read_directory, read_edges, write_directory, write_edges
from privet.data.graph import Features, Graph, Split
from privet.data.interop import from_networkx, from_pyg, load_pyg, to_networkx, to_pyg
from privet.data.population import Population
from privet.data.schema import Categories, Feature, Interval, Schema, Several
from privet.data.splits import EdgeSplit, Links, label_rate, split_edges, split_nodes
from privet.data.synthetic import social_graph
from privet.data.transforms import group_columns, public_projection

__all__ = [
    "KNOWN",
    "Categories",
    "EdgeSplit",
    "Feature",
    "Features",
    "Graph",
    "Interval",
    "Links",
    "Population",
    "Schema",
    "Several",
    "Split",
    "code_answers",
    "from_networkx",
    "from_pyg",
    "group_columns",
    "label_rate",
    "load",
    "load_pyg",
    "public_projection",
    "read_directory",
    "read_edges",
    "save",
    "social_graph",
    "split_edges",
    "split_nodes",
    "to_networkx",
    "to_pyg",
    "write_directory",
    "write_edges",
]
