"""``python -m solver VERB ...``, and the command that pip installs."""

import signal
import sys

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # during imports KeyboardInterrupt would print a traceback

from .base.termination import handle_signals


def main() -> int:
    """Run the command line in this process, which does nothing else; the exit code."""
    handle_signals()
    from .cli import main as run  # these imports take long enough to be interrupted

    return run()


if __name__ == "__main__":
    sys.exit(main())
