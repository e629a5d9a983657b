// The environment variables of one step: set before it, put back after it, always as data.

"use strict";

const { TypeError } = node;
// The code may rebind it; the process's environment is behind this object.
const { env } = node.process;

function check(name, value) {
  const wrong =
    name === ""
      ? "a name is empty"
      : name.includes("=")
        ? `the name ${JSON.stringify(name)} has a "="`
        : name.includes("\0") || value.includes("\0")
          ? `${JSON.stringify(name)} has a NUL character`
          : "";
  if (wrong !== "") throw new TypeError(`Environment variables: ${wrong}`);
}

// What puts the old values back. Raises for an impossible name or value, with nothing set.
exports.enter = function enter(variables) {
  const names = Object.keys(variables);
  for (const name of names) check(name, variables[name]);
  const before = names.map((name) => env[name]);
  for (const name of names) env[name] = variables[name];
  return () => {
    names.forEach((name, i) => {
      if (before[i] === undefined) delete env[name];
      else env[name] = before[i];
    });
  };
};
