"""The loop of a namespace: what its Subscriptions say, and when it is resolved again. Pure.

Each reconcile looks at the whole namespace and at nothing that an earlier one knew, so it may be
killed between any two writes.
"""
