// Where the code is entered: the frames below the ones of this file are the runner's.

"use strict";

exports.runScript = (script) => script.runInThisContext({ displayErrors: false });
exports.call = (call) => call();
