"""Everybody's class probabilities before any answer: from the public structure or from public features."""
