"""API group olm.operatorframework.io/v1: typed models of the kinds and their words. Pure.

A kind is read with its `from_object`. Models are facts: frozen, safe to share. Status is written
as plain JSON (`api.wire.write` makes it of a model). Nothing is imported here: most commands need
names alone, and to make the models takes a fifth of their time.
"""
