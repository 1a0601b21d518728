"""Shapes that hold other shapes: lists, mappings, records, and what is chosen by how it is written."""

from __future__ import annotations

from triage.lazy import regex
from triage.library.nodes import Mapping, Node, Scalar, Sequence
from triage.library.shapes import Findings, Shape, called, closest
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable


class ListOf(Shape):
    """A list of values of one shape; `lone` accepts a single value in place of a list of one."""

    def __init__(self, item: Shape, *, lone: bool = False, least: int = 1, most: int = 100) -> None:
        self.item, self.lone, self.least, self.most = item, lone, least, most
        self.name = f"a list of {item.name}"

    def read(self, node: Node, at: str, found: Findings) -> Any:
        if not isinstance(node, Sequence):
            if self.lone:
                return [self.item.read(node, at, found)]
            return found.add(node, at, f"must be a list, not {called(node)}")
        if not self.least <= len(node.items) <= self.most:
            return found.add(node, at, f"must have {self.least} to {self.most} elements")
        values = []
        for index, item in enumerate(node.items):
            place = f"{at}[{index}]"
            found.lines[place] = item.line
            values.append(self.item.read(item, place, found))
        return values

    def schema(self) -> dict[str, Any]:
        many = {"type": "array", "items": self.item.schema(), "minItems": self.least, "maxItems": self.most}
        return {"anyOf": [many, self.item.schema()]} if self.lone else many


class MapOf(Shape):
    """A mapping from free names to values of one shape."""

    name = "a mapping"

    def __init__(self, value: Shape, *, key: str = r"[\w.-]+", says: str = "a name", most: int = 50) -> None:
        self.value, self.key, self.says, self.most = value, key, says, most
        self._fits = regex(key)

    def shape_of(self, key: str) -> Shape:  # noqa: ARG002 - for those who know more
        """Return the shape of the value under `key`."""
        return self.value

    def read(self, node: Node, at: str, found: Findings) -> Any:
        pairs = _pairs(node, at, found)
        if pairs is None:
            return None
        if not 1 <= len(pairs) <= self.most:
            return found.add(node, at, f"must have 1 to {self.most} entries")
        values = {}
        for key, (place, value) in pairs.items():
            if not self._fits.fullmatch(key):
                found.add(place, f"{at}.{key}", f"{key!r} is not {self.says}")
                continue
            values[key] = self.shape_of(key).read(value, f"{at}.{key}", found)
        return values

    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": False,
            "patternProperties": {f"^(?:{self.key})$": self.value.schema()},
        }


class Record(Shape):
    """A mapping with known keys.

    `one_of` holds groups of keys of which exactly one must be there, `at_most_one` groups of which none or one may;
    `needs` says which key means something only beside which other one.
    """

    name = "a mapping"

    def __init__(
        self,
        fields: dict[str, Shape],
        *,
        required: Iterable[str] = (),
        one_of: Iterable[tuple[str, ...]] = (),
        at_most_one: Iterable[tuple[str, ...]] = (),
        needs: dict[str, str] | None = None,
        empty: bool = False,
    ) -> None:
        self.needs = needs or {}
        self.fields, self.required, self.empty = fields, tuple(required), empty
        self.one_of, self.at_most_one = tuple(one_of), tuple(at_most_one)
        # Each with the number of its keys that must be there.
        self._groups = [*((group, 1) for group in self.one_of), *((group, 0) for group in self.at_most_one)]

    def read(self, node: Node, at: str, found: Findings) -> Any:
        pairs = _pairs(node, at, found)
        if pairs is None:
            return None
        if not pairs and not self.empty:
            return found.add(node, at, "has no keys", "known are " + ", ".join(self.fields))
        values: dict[str, Any] = {}
        for key, (place, value) in pairs.items():
            field = f"{at}.{key}" if at else key
            shape = self.fields.get(key)
            if shape is None:
                hint = closest(key, self.fields) or "known are " + ", ".join(self.fields)
                found.add(place, field, f"unknown key {key!r}", hint)
                continue
            found.lines[field] = place.line
            values[key] = shape.read(value, field, found)
        for key in self.required:
            if key not in pairs:
                found.add(node, at, f"{key!r} is missing")
        self._together(node, at, pairs, found)
        return values

    def _together(self, node: Node, at: str, keys: Collection[str], found: Findings) -> None:
        for group, least in self._groups:
            there = [key for key in group if key in keys]
            if len(there) > 1:
                found.add(node, at, "only one of " + ", ".join(there) + " may stand here")
            elif len(there) < least:
                found.add(node, at, "one of " + ", ".join(group) + " is missing")
        for key, other in self.needs.items():
            if key in keys and other not in keys:
                found.add(node, at, f"{key!r} means something only beside {other!r}")

    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {
            "type": "object",
            "additionalProperties": False,
            "properties": {key: shape.schema() for key, shape in self.fields.items()},
        }
        if self.required:
            schema["required"] = list(self.required)
        if not self.empty:
            schema["minProperties"] = 1
        rules: list[dict[str, Any]] = [{"oneOf": [{"required": [key]} for key in group]} for group in self.one_of]
        for group in self.at_most_one:
            pairs = [(one, other) for i, one in enumerate(group) for other in group[i + 1 :]]
            rules.extend({"not": {"required": list(pair)}} for pair in pairs)
        if rules:
            schema["allOf"] = rules
        if self.needs:
            schema["dependentRequired"] = {key: [other] for key, other in self.needs.items()}
        return schema


class Either(Shape):
    """One of several shapes, chosen by how the node is written."""

    def __init__(
        self, *, scalar: Shape | None = None, sequence: Shape | None = None, mapping: Shape | None = None
    ) -> None:
        self.by_node: dict[type, Shape | None] = {Scalar: scalar, Sequence: sequence, Mapping: mapping}
        self.shapes = [shape for shape in (scalar, sequence, mapping) if shape]
        self.name = " or ".join(shape.name for shape in self.shapes)

    def read(self, node: Node, at: str, found: Findings) -> Any:
        shape = self.by_node[type(node)]
        return shape.read(node, at, found) if shape else found.add(node, at, f"must be {self.name}, not {called(node)}")

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [shape.schema() for shape in self.shapes]}


class Variant(Shape):
    """A mapping whose other keys depend on one of them."""

    name = "a mapping"

    def __init__(self, key: str, records: dict[str, Record]) -> None:
        self.key, self.records = key, records

    def read(self, node: Node, at: str, found: Findings) -> Any:
        if not isinstance(node, Mapping):
            return found.add(node, at, f"must be a mapping, not {called(node)}")
        chosen = next((value for key, value in node.entries if isinstance(key, Scalar) and key.text == self.key), None)
        record = self.records.get(chosen.text) if isinstance(chosen, Scalar) else None
        if record is None:
            place = chosen or node
            return found.add(place, f"{at}.{self.key}", f"{self.key!r} must be one of " + ", ".join(self.records))
        return record.read(node, at, found)

    def schema(self) -> dict[str, Any]:
        return {"oneOf": [record.schema() for record in self.records.values()]}


class Later(Shape):
    """A shape that is defined further on, for shapes that nest in themselves."""

    def __init__(self, name: str, shape: Callable[[], Shape]) -> None:
        self.name, self.shape = name, shape

    def read(self, node: Node, at: str, found: Findings) -> Any:
        return self.shape().read(node, at, found)

    def schema(self) -> dict[str, Any]:
        return {"$ref": f"#/$defs/{self.name}"}


def _pairs(node: Node, at: str, found: Findings) -> dict[str, tuple[Node, Node]] | None:
    """Return a mapping's values by key, each with the node of its key; None (and a problem) for anything else."""
    if not isinstance(node, Mapping):
        found.add(node, at, f"must be a mapping, not {called(node)}")
        return None
    pairs: dict[str, tuple[Node, Node]] = {}
    for key, value in node.entries:
        if not isinstance(key, Scalar):
            found.add(key, at, "a key must be text")
        elif key.text in pairs:
            found.add(key, f"{at}.{key.text}" if at else key.text, f"{key.text!r} stands here twice")
        else:
            pairs[key.text] = (key, value)
    return pairs
