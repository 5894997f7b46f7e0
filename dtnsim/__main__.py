"""``python -m dtnsim``."""

from dtnsim.cli import main

main()
