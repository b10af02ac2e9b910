"""`python -m tarnkappe`: the command line, where `tarn` is not on the path."""

from tarnkappe.cli import main

if __name__ == "__main__":
    main()
