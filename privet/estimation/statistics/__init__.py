"""Statistics of what people answered: shares, means and tables, with intervals that know the mechanism."""
