"""The words of the product: kinds, conditions, labels. Pure."""
