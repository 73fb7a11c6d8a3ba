"""The programs outside Python that the tool runs: how they are found, run and remembered.

``find`` looks for CUDA tools, ``host`` for C and C++ compilers, ``process`` runs a command safely, ``nvcc``
compiles CUDA and assembles PTX, ``usage`` reads what ptxas says about a kernel, ``cache`` keeps results.
Nothing here is needed to generate code; without CUDA the tool falls back on its own estimates.
"""
