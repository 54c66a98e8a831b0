"""The words of the API: kinds as typed models, and the schema that the API server checks. Pure.

schema   markers with which a model states its fields
wire     raw JSON -> model -> JSON
crd      model -> CustomResourceDefinition
v1       the kinds of olm.operatorframework.io/v1, their conditions and names
"""
