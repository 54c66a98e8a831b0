"""The commands of `opm`, one module each, imported when they are asked for."""
