"""Arguments and options that name catalogs and packages, and their completion."""
