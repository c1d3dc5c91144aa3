"""The results of a study: what people answered, for its operator and, if the manifest says so, for everybody."""
