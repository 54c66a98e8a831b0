"""What an aggregated API server needs of the cluster: who asks, whether he may, and how to say no.

The API server of the cluster passes requests on, as one whom it has authenticated (`front_proxy`).
Others may come directly, with a certificate or a token of the cluster (`authentication`). What they
may do is asked of the API server (`authorization`). `guard` stands in front of an application.
"""
