"""Images: references, manifests, layers, mirrors, who is told credentials. Pure."""
