"""Whether an account as `olm rbac` prints it passes the check, with nothing to spare."""

from collections.abc import Iterator, Sequence

from api.objects import KubeObject
from olm_content.rights import (
    Account,
    Document,
    Needs,
    Verdict,
    as_rules,
    authority_of,
    guessed_kinds,
    installer,
    judge,
    least,
    needs_of,
)

ACCOUNT = Account("ns", "ext-installer")


def needs_for(objects: Sequence[KubeObject]) -> Needs:
    return needs_of(objects, guessed_kinds(objects), "ext")


def account_for(needs: Needs) -> list[Document]:
    return installer(ACCOUNT, as_rules(least(needs)))


def verdict(needs: Needs, documents: Sequence[KubeObject]) -> Verdict:
    """What the check says of the account that these objects make; other roles are not known."""
    return judge(needs, authority_of(ACCOUNT, documents), {})


def with_a_rule_removed(documents: Sequence[Document]) -> Iterator[tuple[object, list[KubeObject]]]:
    """Each rule of the roles, and the objects without it."""
    objects = [document.obj for document in documents]
    for number, obj in enumerate(objects):
        for index, rule in enumerate(obj.get("rules") or ()):
            rest = [r for i, r in enumerate(obj["rules"]) if i != index]
            yield rule, [*objects[:number], {**obj, "rules": rest}, *objects[number + 1 :]]


def assert_least(needs: Needs) -> None:
    """All of it is granted, and nothing of it can be left out."""
    documents = account_for(needs)
    whole = verdict(needs, [document.obj for document in documents])
    assert whole.granted, whole
    for rule, objects in with_a_rule_removed(documents):
        assert not verdict(needs, objects).granted, f"{rule} is not needed"
