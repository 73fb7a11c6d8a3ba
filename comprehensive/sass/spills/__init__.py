"""Spills of ptxas in shared memory: ``STL`` and ``LDL`` of a cubin to ``STS`` and ``LDS``; README.md has the rest."""
