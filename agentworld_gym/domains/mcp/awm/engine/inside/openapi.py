"""Tools from the OpenAPI description of an app, as FastAPI-MCP describes them to its clients."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

METHODS = ("get", "post", "put", "delete", "patch")
HIDDEN = ("allOf", "anyOf", "oneOf", "nullable", "discriminator", "readOnly", "writeOnly", "xml", "externalDocs")
"""Keys of a schema that an example is not made of."""

EXAMPLES: dict[str, str] = {
    "date-time": "2023-01-01T00:00:00Z",
    "date": "2023-01-01",
    "email": "user@example.com",
    "uri": "https://example.com",
}
"""The example of a text by its format."""

MAX_TOOL = 250_000
"""The largest number of bytes of the description of a tool."""

MAX_PARTS = 50_000
"""How many values the description of a tool may have when its references are resolved."""

MAX_REFUSAL = 2_000
"""The characters of why a tool is refused."""


class Operation(NamedTuple):
    """One endpoint, as it is called."""

    method: str
    """The method in capital letters."""

    path: str
    """The path with the names of its parameters in braces."""

    places: dict[str, tuple[str, ...]]
    """The names of the parameters by their place: `path`, `query` and `header`; all others are of the body."""

    schema: dict[str, Any]
    """The JSON Schema of the arguments."""

    refusal: str = ""
    """Why no client can use the tool, in the words with which a server in Python refuses each of its calls; an empty
    text where clients can."""


def refused(error: Exception) -> Operation:
    """Return the operation of a tool that cannot be described."""
    return Operation("", "", {}, {}, f"{type(error).__name__}: {error}"[:MAX_REFUSAL])


def tools_of(description: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Operation]]:
    """Return the tools of an app that clients can use, and its operations by the names of the tools.

    What the author of a tool wrote of it need not be JSON Schema, nor a description at all. Such a tool is an operation
    with a refusal, and the others are as if it were not there.

    Args:
        description: The OpenAPI description.

    Returns:
        A list of `name`, `description` and `parameters` (the JSON Schema of path, query and body together), and the
        operations by name, those that are refused included.
    """
    schemas = description.get("components", {}).get("schemas", {})
    tools: dict[str, dict[str, Any]] = {}
    operations = dict[str, Operation]()
    for path, methods in description.get("paths", {}).items():
        for method, operation in methods.items() if isinstance(methods, dict) else ():
            name = operation.get("operationId") if isinstance(operation, dict) else None
            if method not in METHODS or not isinstance(name, str) or not name:
                continue
            tools.pop(name, None)  # Of two tools of one name a server knows the last.
            try:
                tool, operations[name] = _described(name, method.upper(), path, _Resolving(schemas).of(operation))
            except Exception as error:
                operations[name] = refused(error)
                continue
            if not operations[name].refusal:
                tools[name] = tool
    return list(tools.values()), operations


def _described(name: str, method: str, path: str, operation: dict[str, Any]) -> tuple[dict[str, Any], Operation]:
    """Return a tool with its operation.

    Raises:
        Exception: Its description has not the shape of one, is too long, or holds what JSON does not know.
    """
    schema = _arguments(operation, name)
    parameters = operation.get("parameters", ())
    places = {
        place: tuple(parameter["name"] for parameter in parameters if parameter["in"] == place)
        for place in ("path", "query", "header")
    }
    text = operation.get("summary") or f"{method} {path}"
    text += f"\n\n{operation['description']}" if operation.get("description") else ""
    tool = {"name": name, "description": text + _answers(operation), "parameters": schema}
    written = json.dumps(tool, allow_nan=False, ensure_ascii=False).encode()
    if len(written) > MAX_TOOL:
        raise ValueError(f"its description has {len(written)} bytes, the limit is {MAX_TOOL}")
    tool = json.loads(written)
    return tool, Operation(method, path, places, tool["parameters"], _refusal(tool["parameters"]))


def _refusal(schema: dict[str, Any]) -> str:
    """Return what is wrong with a schema, in the words of the library that MCP servers in Python check with."""
    import jsonschema

    try:
        jsonschema.validators.validator_for(schema).check_schema(schema)
    except Exception as error:
        return str(error)[:MAX_REFUSAL] or type(error).__name__
    return ""


class _Resolving:
    """Replaces references by their schemas.

    Args:
        schemas: The schemas by name.
    """

    def __init__(self, schemas: dict[str, Any]) -> None:
        self._schemas, self._left = schemas, MAX_PARTS

    def of(self, value: Any, around: frozenset[str] = frozenset()) -> Any:
        """Return a part of the description without references.

        Args:
            value: The part.
            around: The names of the schemas that the part stands in. One that holds itself is left empty in there.

        Raises:
            ValueError: The description grows too large.
        """
        self._left -= 1
        if self._left < 0:
            raise ValueError(f"its description has more than {MAX_PARTS} parts")
        if isinstance(value, list):
            return [self.of(item, around) for item in value]
        if not isinstance(value, dict):
            return value
        return self._of_object(value, around)

    def _of_object(self, value: dict[str, Any], around: frozenset[str]) -> dict[str, Any]:
        reference = value.get("$ref")
        if isinstance(reference, str):
            name = reference.rpartition("/")[2]
            if name in around:
                return {}
            value = {**{key: item for key, item in value.items() if key != "$ref"}, **self._schemas.get(name, {})}
            around |= {name}
        return {key: self.of(item, around) for key, item in value.items()}


def _arguments(operation: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the JSON Schema of all arguments of an operation: those of the path, of the query, then of the body."""
    properties: dict[str, Any] = {}
    required = []
    parameters = operation.get("parameters", [])
    for place in ("path", "query"):
        for parameter in parameters:
            if parameter["in"] != place:
                continue
            kind = "string" if place == "path" else None
            properties[parameter["name"]] = _property(parameter["name"], parameter, kind)
            if parameter.get("required", place == "path"):
                required.append(parameter["name"])
    body = _first_schema(operation.get("requestBody", {}))
    for key, schema in body.get("properties", {}).items():
        properties[key] = _property(key, {"schema": schema}, None)
        if key in body.get("required", ()):
            required.append(key)
    schema = {"type": "object", "properties": properties, "title": f"{name}Arguments"}
    return {**schema, "required": required} if required else schema


def _property(name: str, parameter: dict[str, Any], kind: str | None) -> dict[str, Any]:
    schema = {**parameter.get("schema", {}), "title": name}
    if parameter.get("description"):
        schema["description"] = parameter["description"]
    if "type" not in schema:
        kinds = [choice.get("type") for choice in schema.get("anyOf", ()) if choice.get("type") not in (None, "null")]
        schema["type"] = kind or (kinds[0] if kinds else "string")
    return schema


def _first_schema(holder: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of the first type of content; an empty one where there is none."""
    content: dict[str, Any] = next(iter(holder.get("content", {}).values()), {})
    schema = content.get("schema", {})
    return schema if isinstance(schema, dict) else {}


def _answers(operation: dict[str, Any]) -> str:
    """Return what the description of a tool says of its answers: the successful one, or else all of them."""
    responses = operation.get("responses", {})
    if not responses:
        return ""
    success = next((code for code in map(str, range(200, 300)) if code in responses), None)
    text = "\n\n### Responses:\n"
    for code in [success] if success else responses:
        response = responses[code]
        text += f"\n**{code}**: {response.get('description', '')}"
        text += " (Success Response)" if success else ""
        for kind, content in response.get("content", {}).items():
            if "schema" not in content:
                continue
            text += f"\nContent-Type: {kind}"
            given = [entry["value"] for entry in content.get("examples", {}).values() if "value" in entry][:1]
            example = (given[0] if given else content.get("example")) or _example(_visible_schema(content["schema"]))
            if example:
                text += f"\n\n**Example Response:**\n```json\n{json.dumps(example, indent=2)}\n```"
    return text


def _visible_schema(schema: dict[str, Any]) -> dict[str, Any]:
    shown = {key: value for key, value in schema.items() if key not in HIDDEN}
    if isinstance(shown.get("properties"), dict):
        shown["properties"] = {
            key: _visible_schema(value) if isinstance(value, dict) else value
            for key, value in shown["properties"].items()
        }
    if shown.get("type") == "array" and isinstance(shown.get("items"), dict):
        shown["items"] = _visible_schema(shown["items"])
    return shown


def _example(schema: Any) -> Any:
    """Return a value of a schema; None where the schema does not tell its type."""
    if not isinstance(schema, dict):
        return None
    match schema.get("type"):
        case "object":
            made = {key: _example(value) for key, value in schema.get("properties", {}).items()}
            return {key: value for key, value in made.items() if value is not None}
        case "array":
            item = _example(schema.get("items"))
            return [] if item is None else [item]
        case "string":
            return EXAMPLES.get(schema.get("format", ""), schema.get("title", "string"))
        case "integer":
            return 1
        case "number":
            return 1.0
        case "boolean":
            return True
    return None
