// The names of the top level: variables, constants, classes and functions of all steps are
// properties of the global object, so that later steps see them and may declare them anew.

"use strict";

const { defineProperty, global, TypeError } = node;

const constants = new Set();
const GUARD = "__stepbox_constants";

// Makes room for what the code is about to declare: own properties that can be assigned to, where
// Node has accessors (`crypto`, `navigator`) too.
exports.declare = function declare(names) {
  for (const name of names) {
    const own = Object.getOwnPropertyDescriptor(global, name);
    if (own ? own.configurable && !own.writable : !own) {
      defineProperty(global, name, {
        value: own && "value" in own ? own.value : undefined,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
  }
};

// Which constants there are when code runs that declares `names`, of these `constant` as constants.
exports.constantsWith = function constantsWith(names, constant) {
  const then = new Set(constants);
  for (const name of names) then.delete(name);
  for (const name of constant) then.add(name);
  return then;
};

exports.setConstants = function setConstants(then) {
  constants.clear();
  for (const name of then) constants.add(name);
};

// What code that assigns to a constant gets to see in its place.
exports.guardName = function guardName() {
  if (!Object.hasOwn(global, GUARD)) {
    const guard = new Proxy(Object.create(null), {
      get: (_, name) => global[name],
      set() {
        throw new TypeError("Assignment to constant variable.");
      },
    });
    defineProperty(global, GUARD, { value: guard });
  }
  return GUARD;
};

exports.GUARD = GUARD;
