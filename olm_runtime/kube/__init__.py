"""The API server: who we are, requests, discovery, errors, Events."""
