"""A registry+v1 bundle to the objects to apply. Pure.

`install.install_objects` answers a user's request; `renderer.render` is the part after
configuration: VALIDATORS, then GENERATORS. `options` can be had without them.
"""
