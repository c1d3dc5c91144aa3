"""Public declarations about data, graphs, dataset files, splits and synthetic graphs."""

from privet.data.schema import Categories, Feature, Interval, Schema

__all__ = ["Categories", "Feature", "Interval", "Schema"]
