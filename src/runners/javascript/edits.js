// Changes to a text, and the way back from positions in what came of it.

"use strict";

function compareRanks(a, b) {
  const at = a.findIndex((part, i) => part !== b[i]);
  return at < 0 ? 0 : a[at] - b[at];
}

class Edits {
  constructor(source) {
    this.source = source;
    this._edits = []; // {start, end, text, rank: in which order those of one place stand}
  }

  replace(start, end, text) {
    this._edits.push({ start, end, text, rank: [2, this._edits.length] });
  }

  // Before what begins here. What is inserted first is the outermost.
  open(at, text) {
    this._edits.push({ start: at, end: at, text, rank: [1, this._edits.length] });
  }

  // After what ends here and began at `from`. What began last is the innermost.
  close(at, text, from) {
    this._edits.push({ start: at, end: at, text, rank: [0, -from, -this._edits.length] });
  }

  // Keeps the lines of what it removes.
  remove(start, end) {
    this.replace(start, end, this.source.slice(start, end).replace(/[^\n\r\u2028\u2029]/g, " "));
  }

  apply() {
    this._edits.sort((a, b) => a.start - b.start || compareRanks(a.rank, b.rank));
    const parts = [];
    this._kept = []; // pieces of the source: {at: offset in the result, start, length}
    let length = 0;
    let done = 0;
    const add = (text) => {
      parts.push(text);
      length += text.length;
    };
    for (const { start, end, text } of this._edits) {
      this._kept.push({ at: length, start: done, length: start - done });
      add(this.source.slice(done, start));
      add(text);
      done = end;
    }
    this._kept.push({ at: length, start: done, length: this.source.length - done });
    add(this.source.slice(done));
    this.result = parts.join("");
    return this.result;
  }

  // Where in the result stands what begins, or ends, at an offset of the source that was kept.
  beginsAt(offset) {
    const piece = this._kept.find(({ start, length }) => offset < start + length);
    return piece ? piece.at + offset - piece.start : this.result.length;
  }

  endsAt(offset) {
    const piece = this._kept.find(({ start, length }) => length > 0 && offset <= start + length);
    return piece ? piece.at + offset - piece.start : this.result.length;
  }

  // The offset in the source that an offset in the result came from.
  back(offset) {
    let found = 0;
    for (const { at, start, length } of this._kept) {
      if (at > offset) break;
      found = Math.min(start + offset - at, start + length);
    }
    return found;
  }
}

const LINE = /\r\n|[\n\r\u2028\u2029]/g;

function lineStarts(text) {
  const starts = [0];
  for (const match of text.matchAll(LINE)) starts.push(match.index + match[0].length);
  return starts;
}

// Lines and columns begin with 1.
exports.offsetOf = function offsetOf(text, line, column) {
  const starts = lineStarts(text);
  return Math.min((starts[line - 1] ?? text.length) + column - 1, text.length);
};

exports.positionOf = function positionOf(text, offset) {
  const starts = lineStarts(text);
  let line = starts.length;
  while (starts[line - 1] > offset) line--;
  return { line, column: offset - starts[line - 1] + 1 };
};

exports.lineOf = (text, line) => text.split(LINE)[line - 1] ?? "";

exports.Edits = Edits;
