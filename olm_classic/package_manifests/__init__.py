"""PackageManifests: what catalogs offer, package by package, as objects of an API. Pure.

`manifests` makes one of what a catalog says of a package; `packed` keeps it ready to be sent;
`shelf` has those of all catalogs; `selection`, `tables` and `documents` are what is asked for it.
"""
