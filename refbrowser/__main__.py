"""``python -m refbrowser`` is the command ``refbrowser``."""

import sys

from refbrowser.cli import main

if __name__ == "__main__":
    sys.exit(main())
