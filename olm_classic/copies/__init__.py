"""Copied ClusterServiceVersions: which there are to be, how they are known, who is notified. Pure.

What a copy has is `olm_classic.csv.copies`.
"""
