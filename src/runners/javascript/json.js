// The JSON form of values, as every reader takes it: finite numbers, integers of 64 bits, no deep nesting.

"use strict";

const { isProxy, ObjectPrototype } = node;

const MAX_DEPTH = 254;

class NotJson extends Error {}

function number(value) {
  if (!Number.isFinite(value)) return null;
  // JSON.stringify writes these as integers.
  if (Math.abs(value) >= 2 ** 63 && Math.abs(value) < 1e21) throw new NotJson();
  return value;
}

function copy(value, depth) {
  if (depth > MAX_DEPTH) throw new NotJson();
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return number(value);
    case "object":
      break;
    default:
      throw new NotJson();
  }
  if (value === null) return null;
  if (isProxy(value)) throw new NotJson();
  if (typeof value.toJSON === "function" && depth > 0) return copy(value.toJSON(), depth + 1);
  if (Array.isArray(value)) {
    const list = [];
    for (let i = 0; i < value.length; i++) list.push(copy(value[i] ?? null, depth + 1));
    return list;
  }
  if (!isPlain(value)) throw new NotJson();
  const object = Object.create(null);
  for (const key of Object.keys(value)) {
    if (value[key] !== undefined) object[key] = copy(value[key], depth + 1);
  }
  return object;
}

function isPlain(value) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === ObjectPrototype || prototype === null || prototype === Object.prototype;
}

// Of a list or a plain object; undefined when it, or a part of it, has none.
exports.jsonForm = function jsonForm(value) {
  if (typeof value !== "object" || value === null || !(Array.isArray(value) || isPlain(value))) return undefined;
  try {
    return copy(value, 0);
  } catch (error) {
    if (error instanceof NotJson || error instanceof RangeError) return undefined;
    throw error;
  }
};

// Of anything that was given as JSON: what has no form becomes its text.
exports.anyJson = function anyJson(value) {
  try {
    return copy(value, 0);
  } catch {
    return String(value);
  }
};
