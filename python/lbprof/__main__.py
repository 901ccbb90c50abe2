"""Runs lb-report: ``python -m lbprof`` where the environment's commands are not on the path.

SPDX-License-Identifier: MIT OR Apache-2.0
"""

import os
import sys

from .run import find_lb_report


def main() -> None:
    """Replaces this process by lb-report with the same arguments."""
    try:
        lb_report = find_lb_report()
    except FileNotFoundError as error:
        sys.exit(f"lbprof: {error}")
    os.execv(lb_report, [lb_report, *sys.argv[1:]])


if __name__ == "__main__":
    main()
