"""Images: references, manifests, layers, mirrors, who gets credentials. Pure."""
