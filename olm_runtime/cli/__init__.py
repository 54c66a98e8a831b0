"""Command lines: flags, errors, interrupts."""
