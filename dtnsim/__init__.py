"""dtnsim: simulation and capacity planning of end-to-end data transfer paths.

Every component is a set of stations with capacities; every transfer is a row of service demands
on those stations; the answer is how fast the rows can grow (operational analysis, Denning and
Buzen 1978).
"""

__version__ = "0.1.0"
