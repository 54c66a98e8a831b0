"""Controllers, in controller-runtime's words. `tests/integration/test_controller_shell.py` has one.

Manager            `manager.Manager`: runs controllers, their watches and queues, resyncs, Events
Controller         `reconciler.Controller`: what is particular to a kind
Reconciler         `reconciler.Reconciler`; `ObjectReconciler` is the one around a `Controller`
Request            `requests.Request`: NAMESPACE/NAME
Result, error      `olm_runtime.outcome.Outcome`: Done, Wait, Retry, Blocked
For, Owns, Watches `manager.Watch`
event handler      `handlers.EventHandler`: `enqueue_object`, `enqueue_mapped`
predicate          `handlers.Predicate`: `more_than_status_changed`
cache, informer    `olm_runtime.watch.store.Store`, by `Manager.store`
work queue         `workqueue.WorkQueue`; which key is next: `olm_runtime.lanes`, `priority`
finalizer          `Controller.finalizers` and `Controller.finalize`
event recorder     `events.EventBroadcaster`
leader election    `leader.Elector`
"""
