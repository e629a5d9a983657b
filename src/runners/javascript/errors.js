// Errors of a step as events: name, value, and a traceback as Node prints it.

"use strict";

const { inspect, isNativeError, SyntaxError } = node;
const { lineOf } = load("edits");
const { sourceOf } = load("stacks");

const MAX_LINE = 200;

// The line of code that an error is about, with a mark below.
function excerpt(name, source, line, column) {
  let text = lineOf(source, line);
  let at = column - 1;
  if (text.length > MAX_LINE) {
    const cut = Math.max(0, at - MAX_LINE / 2);
    text = text.slice(cut, cut + MAX_LINE);
    at -= cut;
  }
  return `${name}:${line}\n${text}\n${text.slice(0, at).replace(/[^\t]/g, " ")}^\n\n`;
}

// For the innermost frame that is in the code of a step.
function excerptOf(stack) {
  const match = /(<cell \d+>):(\d+):(\d+)/.exec(stack);
  const source = match && sourceOf(match[1]);
  return source === undefined || source === null
    ? ""
    : excerpt(match[1], source, Number(match[2]), Number(match[3]));
}

function attempt(get, otherwise) {
  try {
    return get();
  } catch {
    return otherwise;
  }
}

const isErrorLike = (value) =>
  isNativeError(value) ||
  attempt(() => typeof value.message === "string" && typeof value.stack === "string", false);

// What was thrown, which may be anything, as an event.
exports.errorEvent = function errorEvent(thrown) {
  const shown = attempt(() => inspect(thrown), "<an error that cannot be shown>");
  if (!isErrorLike(thrown)) {
    const value = attempt(() => (typeof thrown === "string" ? thrown : shown), shown);
    return { type: "error", name: "Uncaught", value, traceback: `Uncaught ${shown}` };
  }
  if (thrown.stepboxTraceback)
    return {
      type: "error",
      name: "SyntaxError",
      value: thrown.message,
      traceback: thrown.stepboxTraceback,
    };
  return {
    type: "error",
    name: attempt(() => String(thrown.name), "Error"),
    value: attempt(() => String(thrown.message), ""),
    traceback: attempt(() => excerptOf(String(thrown.stack)), "") + shown,
  };
};

// A syntax error, whose traceback shows the place and no stack: nothing has run.
exports.syntaxError = function syntaxError(message, name, source, line, column) {
  const error = new SyntaxError(message);
  error.stepboxTraceback = `${excerpt(name, source, line, column)}SyntaxError: ${message}`;
  return error;
};
