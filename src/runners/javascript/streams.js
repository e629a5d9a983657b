// process.stdout and process.stderr: streams that write at once.
//
// Node's own make the pipe non-blocking, which child processes that inherit it do not expect, and
// keep in memory what does not fit in it. These wait: what is written is in the pipe when write()
// returns, and a reader that lags holds up the code.

"use strict";

const { Writable, bufferFrom, process, defineProperty } = node;
const channel = load("channel");

const NAMES = [[1, "stdout"], [2, "stderr"]];

function makeStream(descriptor) {
  const stream = new Writable({
    decodeStrings: false,
    emitClose: false,
    autoDestroy: false,
    write(chunk, encoding, done) {
      channel.write(descriptor, typeof chunk === "string" ? bufferFrom(chunk, encoding) : chunk);
      done();
    },
    // The descriptor is the context's, not the code's.
    destroy(error, done) {
      done(error);
    },
  });
  stream.fd = descriptor;
  stream._type = "pipe";
  stream._isStdio = true;
  stream.destroySoon = stream.destroy;
  return stream;
}

function install(descriptor, name) {
  const stream = makeStream(descriptor);
  defineProperty(process, name, {
    configurable: true,
    enumerable: true,
    get: () => stream,
  });
  return stream;
}

const current = [];

exports.install = function installStreams() {
  for (const [descriptor, name] of NAMES) current[descriptor] = install(descriptor, name);
};

// Before a step: puts back what the last one has ended or destroyed.
exports.repair = function repair() {
  for (const [descriptor, name] of NAMES) {
    const stream = current[descriptor];
    if (stream.destroyed || stream.writableEnded) current[descriptor] = install(descriptor, name);
  }
};

exports.writeError = (text) => channel.write(2, bufferFrom(text, "utf8"));
