"""Clipped sums of the gradients of any module over sampled sub-graphs, exact on an integer grid."""

from privet.models.subgraphs.chunks import Chunk, chunks_of, random_chunk
from privet.models.subgraphs.gradients import SubgraphGradients

__all__ = ["Chunk", "SubgraphGradients", "chunks_of", "random_chunk"]
