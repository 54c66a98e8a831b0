"""`olm cluster release`: release images made, shown, extracted and verified."""
