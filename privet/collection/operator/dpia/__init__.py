"""The data-protection impact assessment of a study."""
