"""The schemas of the API's kinds, as OpenAPI describes them. Pure."""

from collections.abc import Callable
from typing import Any

from olm_classic.package_manifests.manifests import GROUP, KIND, VERSION

PREFIX = "com.github.operator-framework.packages.v1."
"""Of the names of schemas."""

Schema = dict[str, Any]


def schemas(references: str) -> dict[str, Schema]:
    """All schemas by name; they refer to each other by `references` and the name."""

    def of(name: str, text: str) -> Schema:
        return {"description": text, "allOf": [{"$ref": f"{references}{PREFIX}{name}"}]}

    def each(name: str, text: str) -> Schema:
        return _array({"$ref": f"{references}{PREFIX}{name}"}, text)

    found = {**_manifests(of, each), **_packages(of, each), **_csvs(of, each), **_words()}
    return {f"{PREFIX}{name}": schema for name, schema in found.items()}


Refer = Callable[[str, str], Schema]


def _manifests(of: Refer, each: Refer) -> dict[str, Schema]:
    types = {
        "apiVersion": _text("Version of this representation of an object."),
        "kind": _text("What this object is."),
    }
    manifest = {
        **types,
        "metadata": of("ObjectMeta", "Name, namespace (the one that was asked for) and labels."),
        "spec": {"type": "object", "description": "Empty."},
        "status": of("PackageManifestStatus", "What the catalog says of the package."),
    }
    listed = {
        **types,
        "metadata": of("ListMeta", "About the list."),
        "items": each(KIND, "The packages."),
    }
    about = "A package of a catalog: its channels, and what is at their heads."
    return {
        KIND: _object(about, manifest) | _kind(KIND),
        f"{KIND}List": _object("Packages of catalogs.", listed) | _kind(f"{KIND}List"),
    }


def _packages(of: Refer, each: Refer) -> dict[str, Schema]:
    status = {
        "catalogSource": _text("Name of the CatalogSource."),
        "catalogSourceDisplayName": _text("Its display name."),
        "catalogSourcePublisher": _text("Who publishes it."),
        "catalogSourceNamespace": _text("Its namespace."),
        "provider": of("AppLink", "Who provides the package: of the head of its default channel."),
        "packageName": _text("Name of the package."),
        "deprecation": of("Deprecation", "Why the package is deprecated, if it is."),
        "channels": each("PackageChannel", "Its channels, by name."),
        "defaultChannel": _text("The channel that counts where none is named."),
    }
    channel = {
        "name": _text("Name of the channel."),
        "currentCSV": _text("Name of the ClusterServiceVersion at its head."),
        "currentCSVDesc": of("CSVDescription", "What that says of itself."),
        "deprecation": of("Deprecation", "Why the channel is deprecated, if it is."),
        "entries": each("ChannelEntry", "What is in it, the highest version first."),
    }
    entry = {
        "name": _text("Its name."),
        "version": _text("Its version."),
        "deprecation": of("Deprecation", "Why it is deprecated, if it is."),
    }
    return {
        "PackageManifestStatus": _object("What the catalog says of the package.", status),
        "PackageChannel": _object("A channel of updates.", channel),
        "ChannelEntry": _object("A ClusterServiceVersion in a channel.", entry),
    }


def _csvs(of: Refer, each: Refer) -> dict[str, Schema]:
    fields = {
        "displayName": _text("Name for people."),
        "icon": each("Icon", "Empty; the subresource icon has it."),
        "version": _text("Version."),
        "provider": of("AppLink", "Who provides it."),
        "annotations": _texts("Its annotations."),
        "keywords": _array({"type": "string"}, "Words to find it by."),
        "links": each("AppLink", "Pages about it."),
        "maintainers": each("Maintainer", "Who maintains it."),
        "maturity": _text("How mature it is."),
        "description": _text("What it does, in Markdown."),
        "installModes": each("InstallMode", "Which namespaces it can watch."),
        "customresourcedefinitions": _anything("Custom resources that it owns and requires."),
        "apiservicedefinitions": _anything("API services that it owns and requires."),
        "nativeApis": _array(_anything("Group, version, kind."), "Kinds that have to be there."),
        "minKubeVersion": _text("Lowest version of Kubernetes that it runs on."),
        "relatedImages": _array({"type": "string"}, "Images that it uses."),
    }
    return {"CSVDescription": _object("What a ClusterServiceVersion says of itself.", fields)}


def _words() -> dict[str, Schema]:
    modes = "OwnNamespace, SingleNamespace, MultiNamespace or AllNamespaces."
    meta = {
        "name": _text("Name of the package."),
        "namespace": _text("Namespace."),
        "labels": _texts("Labels, catalog and catalog-namespace among them."),
        "creationTimestamp": _text("When the CatalogSource was made.", format="date-time"),
    }
    list_meta = {
        "resourceVersion": _text("Empty."),
        "continue": _text("Asks for the next part of the list."),
        "remainingItemCount": {
            "type": "integer", "format": "int64", "description": "How many follow.",
        },
    }  # fmt: skip
    icon = {"base64data": _text("The image."), "mediatype": _text("Its media type.")}
    mode = {
        "type": _text(modes),
        "supported": {"type": "boolean", "description": "Whether it can."},
    }
    return {
        "ObjectMeta": _object("Metadata of an object.", meta),
        "ListMeta": _object("Metadata of a list.", list_meta),
        "Icon": _object("An image.", icon),
        "AppLink": _object("A page.", {"name": _text("Name."), "url": _text("Address.")}),
        "Maintainer": _object("A person.", {"name": _text("Name."), "email": _text("Address.")}),
        "InstallMode": _object("Whether it can watch such namespaces.", mode),
        "Deprecation": _object(
            "That something is deprecated.", {"message": _text("Why, and what to use instead.")}
        ),
    }


def _object(text: str, properties: Schema) -> Schema:
    return {"type": "object", "description": text, "properties": properties}


def _kind(kind: str) -> Schema:
    return {"x-kubernetes-group-version-kind": [{"group": GROUP, "version": VERSION, "kind": kind}]}


def _text(text: str, **more: str) -> Schema:
    return {"type": "string", "description": text, **more}


def _texts(text: str) -> Schema:
    return {"type": "object", "additionalProperties": {"type": "string"}, "description": text}


def _array(items: Schema, text: str) -> Schema:
    return {"type": "array", "items": items, "description": text}


def _anything(text: str) -> Schema:
    return {"type": "object", "description": text, "x-kubernetes-preserve-unknown-fields": True}
