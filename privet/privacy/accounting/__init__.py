"""Accountants of the central model: the epsilon of a sampling process with noise, and the noise for an epsilon."""
