"""The pages: each reads as its user, and shows what a command of `olm` prints as data."""
