"""The program that the wrapper runs: ``python -I .../comprehensive/ptx/dropin/__main__.py PTXAS PASSES ARGUMENTS...``.

``-I`` leaves out the directory of the build and the environment of the user, which may hold another Python's packages,
so that this file names its own package itself.
"""

import os
import sys

sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..")))

from comprehensive.ptx.dropin.run import main

if __name__ == "__main__":
    main(sys.argv[1:])
