"""The figures of a cluster's version and of its operators, as samples of metrics. Pure.

Source of the rules: upstream's notes, section 15.
"""
