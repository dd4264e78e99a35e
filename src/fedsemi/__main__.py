"""Run the command line as `python -m fedsemi`."""

from fedsemi.cli import main

if __name__ == "__main__":
    main()
