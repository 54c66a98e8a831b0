"""Which nodes of a pool are updated next, and how: pure.

Source of the rules: the product document, section 7, and upstream's notes, section 17.
"""
