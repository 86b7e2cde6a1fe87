"""``python -m solver VERB ...``, and the command that pip installs."""

import signal
import sys

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until more stands: an exception amid an import is a traceback

from .termination import handle_signals


def main() -> int:
    """Run the command line in this process, which is here for nothing else; the exit code."""
    handle_signals()
    from .cli import main as run  # what it imports takes long enough for somebody to stop it

    return run()


if __name__ == "__main__":
    sys.exit(main())
