// There is nobody to ask: process.stdin is at its end, and a question of readline's, which would
// never be answered, is an error at once.

"use strict";

const { process, defineProperty, Module, Error } = node;

const MESSAGE = "question() was called, but there is nobody to answer: standard input is empty";

function refuseQuestions(stdin, name) {
  const { prototype } = Module.createRequire("/")(name).Interface;
  const { question } = prototype;
  prototype.question = function (...parameters) {
    if (this.input === stdin) throw new Error(MESSAGE);
    return question.apply(this, parameters);
  };
}

exports.install = function install() {
  const { get } = Object.getOwnPropertyDescriptor(process, "stdin");
  let stdin;
  defineProperty(process, "stdin", {
    configurable: true,
    enumerable: true,
    get() {
      if (stdin === undefined) {
        stdin = get.call(process);
        refuseQuestions(stdin, "readline");
        refuseQuestions(stdin, "readline/promises");
      }
      return stdin;
    },
  });
};
