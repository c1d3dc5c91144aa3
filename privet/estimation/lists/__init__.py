"""The graph and the classes behind reported neighbour lists."""
