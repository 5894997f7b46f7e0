"""Very many plain flows in time: columns of arrays on the fluid engine, records made when they are asked for."""
