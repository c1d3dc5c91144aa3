"""``python -m privet.cli``."""

from privet.cli import main

main()
