"""``python -m demo`` is ``interface-tax``."""

import sys

from demo.cli import main

sys.exit(main())
