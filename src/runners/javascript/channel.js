// The line protocol with the agent: one JSON object per line, ASCII only.

"use strict";

const { Socket, bufferFrom, host } = node;

const MAX_LINE = 64 * 1024 * 1024 + 1024;

let ours = -1;
let inStep = false;
// Who wrote last: a standard stream's descriptor, or 0 after an event.
let writer = 0;

function escape(character) {
  return "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0");
}

// JSON.stringify escapes lone surrogates and nothing else in this way; no strict reader takes them.
function replaceLone(escaped) {
  return escaped === "\\\\" ? escaped : "\\ufffd";
}

// Written as Python's json.dumps does, as the service's answers are: with no line ends but those between parts.
function encode(message) {
  return (
    JSON.stringify(message, null, 1)
      .replace(/,\n */g, ", ")
      .replace(/\n */g, "")
      .replace(/\\\\|\\ud[89a-f][0-9a-f]{2}/g, replaceLone)
      .replace(/[\u007f-\uffff]/g, escape) + "\n"
  );
}

function send(message) {
  host.write(ours, bufferFrom(encode(message), "latin1"));
}

exports.open = function open(descriptor, onMessage, onEnd) {
  ours = host.open(descriptor);
  const socket = new Socket({ fd: ours, readable: true, writable: false });
  let parts = [];
  let length = 0;
  socket.setEncoding("latin1");
  socket.on("data", (chunk) => {
    let begin = 0;
    for (let end; (end = chunk.indexOf("\n", begin)) >= 0; begin = end + 1) {
      parts.push(chunk.slice(begin, end));
      const line = parts.join("");
      parts = [];
      length = 0;
      onMessage(JSON.parse(line));
    }
    parts.push(chunk.slice(begin));
    length += chunk.length - begin;
    if (length > MAX_LINE) onEnd();
  });
  socket.on("error", onEnd);
  socket.on("close", onEnd);
};

// A line that belongs to no step.
exports.send = send;

exports.beginStep = function beginStep(message) {
  inStep = true;
  writer = 0;
  send(message);
};

exports.endStep = function endStep(message) {
  inStep = false;
  send(message);
};

exports.isInStep = () => inStep;

// An event of the current step. Outside of one (a timer that lives on) it is dropped.
exports.sendEvent = function sendEvent(message) {
  if (!inStep) return;
  writer = 0;
  send(message);
};

// What comes after an event, or on another stream, must not overtake what came before it: the agent
// reads both pipes empty first. Each of the calls into native code is done whole, or not at all,
// when an interrupt ends the code; so the order here is such that a drain may only be one too many.
exports.write = function write(descriptor, buffer) {
  if (writer !== descriptor) {
    if (inStep) host.drain();
    writer = descriptor;
  }
  return host.write(descriptor, buffer);
};
