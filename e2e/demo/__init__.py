"""`make demo`: the main job of the product on a real control plane, step by step."""
