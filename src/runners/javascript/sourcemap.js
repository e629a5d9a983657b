// Source maps: from positions in compiled code back to those in its source.

"use strict";

const { offsetOf, positionOf } = load("edits");

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function* numbers(text) {
  let value = 0;
  let shift = 0;
  for (const digit of text) {
    const bits = DIGITS.indexOf(digit);
    value += (bits & 31) * 2 ** shift;
    shift += 5;
    if (bits & 32) continue;
    yield value % 2 ? -Math.floor(value / 2) : value / 2;
    value = shift = 0;
  }
}

// The mappings of a source map as [{line, column, sourceLine, sourceColumn}], all from 1.
function readMappings(text) {
  const found = [];
  let sourceLine = 1;
  let sourceColumn = 1;
  text.split(";").forEach((part, index) => {
    let column = 1;
    for (const segment of part.split(",").filter(Boolean)) {
      const [columns, , lines = 0, sourceColumns = 0] = numbers(segment);
      column += columns;
      sourceLine += lines;
      sourceColumn += sourceColumns;
      found.push({ line: index + 1, column, sourceLine, sourceColumn });
    }
  });
  return found;
}

function find(mappings, line, column) {
  let best;
  for (const each of mappings) {
    if (each.line > line || (each.line === line && each.column > column)) break;
    best = each;
  }
  if (!best) return { line: 1, column: 1 };
  const extra = best.line === line ? column - best.column : 0;
  return { line: best.sourceLine, column: best.sourceColumn + extra };
}

// Offsets in the JavaScript to offsets in the TypeScript.
// `map` is the JSON of the map. `shift`: how far the source was moved before it was compiled.
exports.mapper = function mapper(source, text, map, shift) {
  let mappings;
  return (offset) => {
    mappings ??= readMappings(JSON.parse(map).mappings);
    const { line, column } = positionOf(text, offset);
    const found = find(mappings, line, column);
    return Math.max(0, offsetOf(source, found.line, found.column) - shift);
  };
};
