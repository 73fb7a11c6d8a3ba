"""A drop-in for ptxas: nvcc calls it, passes rewrite the PTX, the real ptxas assembles it.

``install`` writes the mini toolkit whose nvcc calls the wrapper, ``options`` and ``arguments`` read the command line
of ptxas, ``run`` does one call, ``command`` is ``comprehensive ptxas``.  Only the standard library is imported.
"""
