"""Classes from answers to the feature question, the neighbours' among them, and the liars whom they withstand."""
