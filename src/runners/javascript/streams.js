// process.stdout and process.stderr: streams that write at once.
//
// Node's own make the pipe non-blocking, which child processes that inherit it do not expect, and
// keep in memory what does not fit in it. These wait: what is written is in the pipe when write()
// returns, and a reader that lags holds up the code.

"use strict";

const { Writable, bufferFrom, process, defineProperty } = node;
const channel = load("channel");

const { nextTick } = process;

const streams = [];

function makeWritable(descriptor) {
  return new Writable({
    decodeStrings: false,
    emitClose: false,
    write(chunk, encoding, done) {
      channel.write(descriptor, typeof chunk === "string" ? bufferFrom(chunk, encoding) : chunk);
      done();
    },
  });
}

function makeStream(descriptor) {
  const stream = makeWritable(descriptor);
  stream.fd = descriptor;
  stream._type = "pipe";
  stream._isStdio = true;
  // The stream is the context's, not the code's: to end it ends nothing.
  stream.end = function end(...parameters) {
    const done = parameters.find((each) => typeof each === "function");
    if (
      typeof parameters[0] !== "function" &&
      parameters[0] !== undefined &&
      parameters[0] !== null
    ) {
      this.write(parameters[0], typeof parameters[1] === "string" ? parameters[1] : undefined);
    }
    nextTick(() => {
      this.emit("finish");
      if (done) done();
    });
    return this;
  };
  stream.destroy = stream.destroySoon = function destroy() {
    return this;
  };
  return stream;
}

exports.install = function installStreams() {
  for (const [descriptor, name] of [
    [1, "stdout"],
    [2, "stderr"],
  ]) {
    const stream = makeStream(descriptor);
    streams.push(stream);
    defineProperty(process, name, { configurable: true, enumerable: true, get: () => stream });
  }
};

// An interrupt may have ended a write half-way: the stream would wait for its end, and keep back
// whatever comes after it.
exports.renew = function renew() {
  for (const stream of streams) stream._writableState = makeWritable(stream.fd)._writableState;
};

exports.writeError = (text) => channel.write(2, bufferFrom(text, "utf8"));
