"""Controllers: for each kind its steps in order, and when it is reconciled."""
