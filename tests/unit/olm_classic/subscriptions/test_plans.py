"""The next InstallPlan of a namespace, and those that are to go."""

from api.operators.v1alpha1.installplan import InstallPlan
from olm_classic.subscriptions.plans import (
    followers,
    is_same,
    new_plan,
    next_generation,
    surplus,
    unfinished,
)
from olm_classic.subscriptions.view import View
from tests.unit.olm_classic.subscriptions.samples import plan, referring, subscription, view


def complete(number: int) -> InstallPlan:
    return plan(f"install-{number}", "Complete", generation=number)


def going(seen: View) -> set[str]:
    return {each.metadata.name for each in surplus(seen)}


def test_a_plan_is_owned_by_all_subscriptions_and_counted_on() -> None:
    seen = view(subscription("a"), subscription("b", status=referring()), plans=(complete(7),))
    made = new_plan(seen, ["a.v1", "b.v2"])
    assert made["metadata"]["generateName"] == "install-"
    owners = made["metadata"]["ownerReferences"]
    assert [(each["kind"], each["name"], each["uid"]) for each in owners] == [
        ("Subscription", "a", "uid-a"),
        ("Subscription", "b", "uid-b"),
    ]
    assert not any(each["controller"] or each["blockOwnerDeletion"] for each in owners)
    assert made["spec"] == {
        "approval": "Automatic",
        "approved": True,
        "clusterServiceVersionNames": ["a.v1", "b.v2"],
        "generation": 8,
    }


def test_a_generation_that_a_subscription_remembers_is_not_used_again() -> None:
    remembered = subscription(status=referring(installPlanGeneration=9))
    assert next_generation(view(remembered, plans=(complete(7),))) == 10
    assert next_generation(view(subscription())) == 1


def test_one_manual_subscription_has_every_plan_wait() -> None:
    seen = view(subscription("a"), subscription("b", installPlanApproval="Manual"))
    spec = new_plan(seen, ["a.v1"])["spec"]
    assert (spec["approval"], spec["approved"]) == ("Manual", False)


def test_a_plan_without_steps_is_gone_on_with_if_it_is_the_one_that_is_wanted() -> None:
    begun = plan("install-2", "", ("app.v1",), generation=2)
    seen = view(subscription(), plans=(complete(1), begun))
    assert unfinished(seen) == begun
    assert is_same(begun, seen, ["app.v1"])
    assert not is_same(begun, seen, ["app.v2"])
    assert not is_same(begun, view(subscription(installPlanApproval="Manual")), ["app.v1"])


def test_a_plan_that_a_user_made_is_not_one_of_ours() -> None:
    assert unfinished(view(subscription(), plans=(plan(phase="", generation=0),))) is None


def test_five_plans_are_retained() -> None:
    plans = tuple(complete(number) for number in (4, 1, 7, 3, 6, 5, 2))
    assert going(view(subscription(), plans=plans)) == {"install-1", "install-2"}
    assert going(view(plans=plans[:5])) == set()


def test_what_a_user_made_and_is_not_over_is_retained_next_to_them() -> None:
    plans = tuple(complete(number) for number in range(1, 6))
    asked = plan("mine", "RequiresApproval", generation=0, approved=False)
    assert going(view(subscription(), plans=(*plans, asked))) == set()


def test_a_plan_that_waits_though_nobody_wants_it_any_more_is_to_go() -> None:
    waiting = plan("install-1", "RequiresApproval", approved=False)
    newer = plan("install-2", "RequiresApproval", ("app.v2",), generation=2, approved=False)
    wanted = subscription(status=referring("install-2"))
    assert going(view(wanted, plans=(waiting, newer))) == {"install-1"}
    assert going(view(subscription(status=referring()), plans=(waiting, newer))) == set()
    assert going(view(wanted, plans=(waiting,))) == set()
    begun = plan("install-2", "", ("app.v2",), generation=2, approved=False)
    assert going(view(wanted, plans=(waiting, begun))) == set()
    approved = plan("install-1", "RequiresApproval")
    assert going(view(wanted, plans=(approved, newer))) == set()


def test_a_plan_is_also_for_those_whose_own_plan_failed() -> None:
    failed = subscription("a", status=referring(currentCSV="a.v1"))
    seen = view(failed, subscription("b"), plans=(plan(phase="Failed"),))
    assert followers(seen, {"b": "b.v1"}, ["a.v1", "b.v1"]) == {"a": "a.v1", "b": "b.v1"}
    assert followers(seen, {"b": "b.v1"}, ["b.v1"]) == {"b": "b.v1"}
    waiting = view(failed, plans=(plan(phase="RequiresApproval", approved=False),))
    assert followers(waiting, {}, ["a.v1"]) == {}
