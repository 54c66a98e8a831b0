"""Our own serving certificates for webhooks: what is kept, what is due, where it goes. Pure.

Flow: `demands` finds out of a revision's objects which Secrets need a certificate; `kept` reads
what such a Secret holds; `policy` says what is due; `demands.filled` puts the result into the
objects before they are applied. Keys are made, and the cluster is asked, in `io.certificates`.
"""
