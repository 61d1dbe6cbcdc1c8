"""`python -m capmodel`."""

from .cli.app import main

main()
