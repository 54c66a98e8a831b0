"""Addresses inside the box. They exist nowhere else, so they disturb nobody."""

NODE_NAME = "node"
NODE_ADDRESS = "10.88.0.1"
POD_CIDR = "10.89.0.0/16"
SERVICE_CIDR = "10.96.0.0/16"
