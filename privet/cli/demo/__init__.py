"""``privet demo``: everything on a synthetic society."""
