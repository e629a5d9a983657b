// What stack traces say: positions in the code as it was written, and no frames of the runner.

"use strict";

const { home, Error, errorToString, defineProperty } = node;
const { offsetOf, positionOf } = load("edits");

// Sources of earlier steps are kept up to this size in all.
const MAX_KEPT = 16 * 1024 * 1024;

// By name, which may be that of a file in TypeScript: {source, text, toSource(offset in text)}.
const cells = new Map();
let kept = 0;

const sizeOf = ({ source, text }) => source.length + text.length;

exports.cellName = (count) => `<cell ${count}>`;

exports.keep = function keep(name, cell) {
  if (cells.has(name)) kept -= sizeOf(cells.get(name));
  cells.set(name, cell);
  kept += sizeOf(cell);
  for (const [oldest, old] of cells) {
    if (kept <= MAX_KEPT || oldest === name) break;
    cells.delete(oldest);
    kept -= sizeOf(old);
  }
};

exports.cell = (name) => cells.get(name);

exports.sourceOf = (name) => cells.get(name)?.source;

// The position in the code as it was written; lines and columns begin with 1.
function original(name, line, column) {
  const cell = cells.get(name);
  if (!cell?.toSource) return { line, column };
  return positionOf(cell.source, cell.toSource(offsetOf(cell.text, line, column)));
}

function frameText(site) {
  const text = String(site);
  const name = site.getFileName();
  if (!cells.has(name)) return text;
  const { line, column } = original(name, site.getLineNumber(), site.getColumnNumber());
  return text.replace(
    `${name}:${site.getLineNumber()}:${site.getColumnNumber()}`,
    `${name}:${line}:${column}`,
  );
}

const isOurs = (name) => typeof name === "string" && name.startsWith(`${home}/`);

function frames(trace) {
  const texts = [];
  for (let i = 0; i < trace.length; i++) {
    const name = trace[i].getFileName();
    if (name === `${home}/enter.js`) {
      while (texts.at(-1)?.includes("(node:vm:")) texts.pop();
      break;
    }
    if (!isOurs(name)) texts.push(frameText(trace[i]));
  }
  return texts;
}

// As Node writes the first line: its own errors have their code in it.
function heading(error) {
  for (let at = error; at; at = Object.getPrototypeOf(at)) {
    if (
      Object.getOwnPropertySymbols(at).some(({ description }) => description === "kIsNodeError")
    ) {
      return `${error.name} [${error.code}]: ${error.message}`;
    }
  }
  return errorToString.call(error);
}

function prepareStackTrace(error, trace) {
  let head;
  try {
    head = heading(error);
  } catch {
    head = "Error";
  }
  return [head, ...frames(trace)].join("\n    at ");
}

exports.install = function install() {
  // The realm's own errors (a parser that runs out of stack) are told without where they come from.
  globalThis.Error.stackTraceLimit = 0;
  defineProperty(Error, "prepareStackTrace", {
    value: prepareStackTrace,
    writable: true,
    configurable: true,
    enumerable: false,
  });
};
