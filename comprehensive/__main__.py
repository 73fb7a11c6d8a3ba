"""``python -m comprehensive`` is the command ``comprehensive``."""

from __future__ import annotations

from comprehensive.cli import main

if __name__ == "__main__":
    main()
