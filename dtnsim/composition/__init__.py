"""From a path to stations and demands: the graph, the network on it, and what a transfer charges along it."""
