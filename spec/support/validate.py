"""Validates by JSON Schema: python validate.py SCHEMAS < CASES

SCHEMAS is a file with a JSON object of schemas by name; each must be valid by its metaschema. CASES has one JSON list a
line: the schema's name, the value. For each it prints "valid", or what is wrong.
"""

import json
import sys

from jsonschema.validators import validator_for

with open(sys.argv[1], encoding="utf-8") as file:
    schemas = json.load(file)
validators = {}
for name, schema in schemas.items():
    validator = validator_for(schema, default=None)
    if validator is None:
        sys.exit(f"{name}: no known $schema")
    validator.check_schema(schema)
    validators[name] = validator(schema)
for line in sys.stdin:
    name, value = json.loads(line)
    problems = [error.message for error in validators[name].iter_errors(value)]
    print(problems[0].replace("\n", " ")[:200] if problems else "valid")
