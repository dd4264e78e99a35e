"""Run the command line, as `fedsemi` and as `python -m fedsemi`."""

from fedsemi.text.early_stop import listen_early


def main() -> None:
    """Listen to Ctrl-C first: all else takes a while to import."""
    listen_early()
    from fedsemi.cli import main as run

    run()


if __name__ == "__main__":
    main()
