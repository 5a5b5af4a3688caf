"""Commands, and the Prefect flows behind them.

Nothing else is imported before this: elsewhere than on Linux much of it could not be.
"""

import sys

if sys.platform != "linux":
    print(
        f"logveil: runs on Linux alone, not on {sys.platform}: use a Linux machine, a container, "
        "or WSL 2 on Windows",
        file=sys.stderr,
    )
    sys.exit(2)
