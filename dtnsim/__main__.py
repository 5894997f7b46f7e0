"""``python -m dtnsim``, and the ``dtnsim`` command: Ctrl-C just ends it while Python still loads the rest."""

try:
    import signal
except KeyboardInterrupt:  # what else Python loads before this file prints where it was
    raise SystemExit(130) from None


def main() -> None:
    """Entry point of the ``dtnsim`` command."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # until there is work: an import that is broken off prints where
    from dtnsim.cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
