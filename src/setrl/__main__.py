"""`python -m setrl`."""

from setrl.cli import main

if __name__ == "__main__":
    main()
