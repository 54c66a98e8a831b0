"""HTTP: servers and clients, TLS, trust, who may call."""
