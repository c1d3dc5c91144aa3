"""Classes from noisy counts of friends, and the liars whom they withstand."""
