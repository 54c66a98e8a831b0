"""The kinds of the API as typed models, and their schemas for the API server. Pure.

schema   markers with which a model states its fields
wire     raw JSON -> model -> JSON
crd      model -> CustomResourceDefinition
v1       the kinds of olm.operatorframework.io/v1, their conditions and names
"""
