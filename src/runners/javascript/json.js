// The JSON form of values, as every reader takes it: finite numbers, integers of 64 bits, no deep
// nesting.

"use strict";

const { isProxy, ObjectPrototype } = node;

const MAX_DEPTH = 254;

class NotJson extends Error {}

function number(value, otherwise) {
  if (!Number.isFinite(value)) return null;
  // JSON.stringify writes these as integers.
  return Math.abs(value) >= 2 ** 63 && Math.abs(value) < 1e21 ? otherwise(value) : value;
}

function refuse() {
  throw new NotJson();
}

// `otherwise` gives the form of what has none, or raises.
function copy(value, depth, otherwise) {
  if (depth > MAX_DEPTH) return otherwise(value);
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return number(value, otherwise);
    case "object":
      return value === null ? null : copyObject(value, depth, otherwise);
    default:
      return otherwise(value);
  }
}

function copyObject(value, depth, otherwise) {
  if (isProxy(value)) return otherwise(value);
  if (typeof value.toJSON === "function" && depth > 0)
    return copy(value.toJSON(), depth + 1, otherwise);
  if (Array.isArray(value)) {
    const list = [];
    for (let i = 0; i < value.length; i++) list.push(copy(value[i] ?? null, depth + 1, otherwise));
    return list;
  }
  if (!isPlain(value)) return otherwise(value);
  const object = Object.create(null);
  for (const key of Object.keys(value)) {
    const property = Object.getOwnPropertyDescriptor(value, key);
    // To show a value calls none of its code.
    if (property.get || property.set) return otherwise(value);
    if (property.value !== undefined) object[key] = copy(property.value, depth + 1, otherwise);
  }
  return object;
}

function isPlain(value) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === ObjectPrototype || prototype === null || prototype === Object.prototype;
}

// Of a list or a plain object; undefined when it, or a part of it, has none.
exports.jsonForm = function jsonForm(value) {
  if (typeof value !== "object" || value === null || !(Array.isArray(value) || isPlain(value)))
    return undefined;
  try {
    return copy(value, 0, refuse);
  } catch (error) {
    if (error instanceof NotJson || error instanceof RangeError) return undefined;
    throw error;
  }
};

// Of anything that was given as JSON: what has no form becomes its text.
exports.anyJson = function anyJson(value) {
  return copy(value, 0, String);
};
