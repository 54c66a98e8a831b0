"""Serving certificates of our own for the webhooks of bundles. Pure.

`demands` finds out of a revision's objects which Secrets need a certificate, and puts certificates
and CA bundles into the objects before they are applied; `io.certificates` reads the Secrets and
takes the steps of `olm_runtime.certificates`.
"""
