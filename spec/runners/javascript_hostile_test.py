"""Streams, variables and exits of steps, and code that turns against the runner."""

import json
import time

from javascript_process import JavaScriptCase


class Streams(JavaScriptCase):
    def test_order_is_kept(self):
        expected = []
        for i in range(50):
            expected += [("stdout", "o %d\n" % i), ("stderr", "e %d\n" % i)]
        code = "for (let i = 0; i < 50; i++) { console.log('o', i); console.error('e', i) }"
        self.assertEqual(self.output(code), expected)
        code = "process.stdout.write('a'); display('b'); process.stderr.write(Buffer.from('c')); process.stdout.write('d\\n'); 'e'"
        self.assertEqual(
            [event["text"] for event in self.events(code)], ["a", "b", "c", "d\n", "e"]
        )

    def test_one_stream_alone_asks_for_no_more_than_one_drain(self):
        before = self.runner.drains
        self.output("for (let i = 0; i < 1000; i++) console.log(i)")
        self.assertLessEqual(self.runner.drains - before, 1)
        before = self.runner.drains
        self.output("x = undefined")
        self.assertEqual(self.runner.drains, before)

    def test_output_comes_at_once(self):
        for code in (
            "process.stdout.write('now'); const end = Date.now() + 5000; while (Date.now() < end);",
            "process.stdout.write('now'); await new Promise((go) => setTimeout(go, 5000));",
        ):
            self.runner.start(code)
            begin = time.monotonic()
            piece = self.runner.wait(lambda event: event["type"] == "stdout")[-1]
            self.assertLess(time.monotonic() - begin, 4)
            self.assertEqual(piece["text"], "now")
            self.runner.interrupt()
            self.runner.finish()

    def test_much_output_goes_through_in_little_memory(self):
        ((_, text),) = self.output(
            "for (let i = 0; i < 50000; i++) console.log('x'.repeat(999))", timeout=60
        )
        self.assertEqual(text, ("x" * 999 + "\n") * 50000)
        ((_, text),) = self.output("console.log('y'.repeat(5e6))")
        self.assertEqual(text, "y" * 5000000 + "\n")
        self.assertLess(int(self.text("process.memoryUsage().rss")), 300e6)

    def test_a_reader_that_waits_holds_up_the_code_and_loses_nothing(self):
        self.runner.start(
            "var written = 0; for (; written < 3000; written++) process.stdout.write('z'.repeat(1000)); 'done'"
        )
        time.sleep(0.5)  # nobody reads
        events = self.runner.finish()
        self.assertEqual(
            sum(len(event["text"]) for event in events if event["type"] == "stdout"), 3000000
        )
        self.assertEqual(events[-2]["text"], "done")

    def test_child_processes_write_to_the_same_streams(self):
        code = """
        const { execSync, spawn } = require("child_process");
        console.log("before");
        execSync("echo out; echo more", { stdio: "inherit" });
        console.log("between");
        await new Promise((end) => spawn("echo", ["late"], { stdio: "inherit" }).on("close", end));
        console.log("after");"""
        self.assertEqual(
            self.output(code), [("stdout", "before\nout\nmore\nbetween\nlate\nafter\n")]
        )

    def test_workers_write_to_them_too(self):
        code = """
        const { Worker } = require("worker_threads");
        await new Promise((end) => new Worker("console.log('of a worker')", { eval: true }).on("exit", end))
        undefined"""
        self.assertEqual(self.output(code), [("stdout", "of a worker\n")])

    def test_streams_that_the_code_ends_go_on(self):
        self.events("process.stdout.end('x'); process.stderr.destroy(); undefined")
        code = "await require('stream/promises').pipeline(require('stream').Readable.from(['a', 'b']), process.stdout)"
        self.assertEqual(self.output(code), [("stdout", "ab")])
        self.assertEqual(
            self.output("console.log(1); console.error(2)"), [("stdout", "1\n"), ("stderr", "2\n")]
        )

    def test_timers_go_on_between_steps_and_write_in_the_next(self):
        self.events("setTimeout(() => console.log('later'), 100); undefined")
        self.assertEqual(
            self.output("await new Promise((go) => setTimeout(go, 200))"), [("stdout", "later\n")]
        )

    def test_standard_input_is_at_its_end(self):
        self.assertEqual(self.text("require('fs').readFileSync(0, 'utf8').length"), "0")
        self.assertEqual(
            self.text(
                "await new Promise((end) => process.stdin.resume().on('end', () => end('at its end')))"
            ),
            "at its end",
        )
        for code in (
            "await require('readline/promises').createInterface({ input: process.stdin }).question('?')",
            "require('readline').createInterface({ input: process.stdin }).question('?', () => {})",
        ):
            self.assertIn("nobody to answer", self.error(code)["value"])
        self.assertEqual(self.error("prompt('?')")["name"], "ReferenceError")


class Variables(JavaScriptCase):
    def test_hold_for_one_step(self):
        nasty = 'it\'s "q" $(x) `y` \\n\n🎉'
        code = "process.env.A + '|' + require('child_process').execSync('printf %s \"$A\"')"
        ((_, text),) = self.output("console.log(%s)" % code, env={"A": nasty})
        self.assertEqual(text, nasty + "|" + nasty + "\n")
        self.assertEqual(self.text("String(process.env.A)"), "undefined")

    def test_are_put_back(self):
        self.events("process.env.B = 'own'")
        self.events(
            "await new Promise((go) => setTimeout(go, 5)); process.env.B = 'changed'",
            env={"B": "step"},
        )
        self.assertEqual(self.text("process.env.B"), "own")
        self.error("throw new Error('x')", env={"C": "1"})
        self.interrupted("while (true) {}")
        self.assertEqual(self.text("'C' in process.env"), "false")

    def test_that_cannot_be_are_errors_and_the_code_does_not_run(self):
        for env in ({"": "x"}, {"A=B": "x"}, {"A\0": "x"}, {"A": "x\0y"}):
            error = self.error("globalThis.ran = true", env={"GOOD": "1", **env})
            self.assertEqual(error["name"], "TypeError")
        self.assertEqual(self.text("typeof ran + process.env.GOOD"), "undefinedundefined")


class Exits(JavaScriptCase):
    def leaves(self, code):
        runner = self.start()
        events = runner.step(code)
        self.assertEqual(events[-1], {"type": "end", "exit": True}, events)
        runner.close()
        return events[1:-1]

    def test_exit(self):
        self.assertEqual(self.leaves("process.exit()"), [])
        self.assertEqual(self.leaves("process.exit(3); console.log('not reached')"), [])
        self.assertEqual(
            self.leaves(
                "await null; setTimeout(() => process.exit(1)); await new Promise(() => {})"
            ),
            [],
        )
        events = self.leaves(
            "process.on('exit', (code) => console.log('leaving', code)); process.exit(4)"
        )
        self.assertEqual(events, [{"type": "stdout", "text": "leaving 4\n"}])

    def test_an_agent_that_goes_ends_the_runner(self):
        runner = self.start()
        runner.step("setInterval(() => {}, 1000)")
        runner.close()  # raises when it does not end


class Hostile(JavaScriptCase):
    def survives(self, code):
        runner = self.start()
        self.addCleanup(runner.close)
        runner.step(code)
        events = runner.step("console.log('out'); console.error('err'); await null; ({ a: [1] })")
        self.assertEqual(
            [event["type"] for event in events],
            ["number_of_executions", "stdout", "stderr", "result", "end"],
            code,
        )
        self.assertEqual(events[3]["json"], {"a": [1]}, code)
        self.assertEqual(runner.step("null.x")[1]["name"], "TypeError", code)

    def test_changed_builtins(self):
        self.survives(
            'JSON.stringify = JSON.parse = () => \'{"type": "end"}\'; globalThis.JSON = null'
        )
        self.survives(
            "for (const name of ['map', 'slice', 'join', 'filter', 'find', 'concat']) Array.prototype[name] = () => { throw 1 }"
        )
        self.survives(
            "for (const name of ['replace', 'slice', 'split', 'charCodeAt', 'padStart']) String.prototype[name] = null"
        )
        self.survives(
            "Object.keys = Object.getPrototypeOf = Object.assign = null; Map.prototype.get = Map.prototype.set = null"
        )
        self.survives(
            "globalThis.Buffer = null; globalThis.Promise = null; globalThis.Error = null; globalThis.Symbol = null"
        )
        self.survives(
            "globalThis.setImmediate = globalThis.setTimeout = null; require('timers').setImmediate = null"
        )
        self.survives(
            "process.exit = process.cwd = process.on = process.listenerCount = null; process.env = {}"
        )
        self.survives(
            "require('fs').writeSync = require('fs').readFileSync = require('util').inspect = null"
        )
        self.survives(
            "require('module')._load = require('module').createRequire = require('vm').Script = null"
        )
        self.survives(
            "Object.defineProperty(Object.prototype, 'type', {value: 'end'}); Object.prototype.exit = true; Object.prototype.toJSON = undefined"
        )
        self.survives(
            "Error.prepareStackTrace = () => { throw 1 }; Error.stackTraceLimit = 0; delete Error.captureStackTrace"
        )

    def test_lines_that_look_like_the_protocol_are_output(self):
        self.assertEqual(
            self.output('console.log(\'{"type":"end"}\')'), [("stdout", '{"type":"end"}\n')]
        )

    def test_the_channel_is_not_found_by_accident(self):
        code = """
        const fs = require("fs"), failed = [];
        for (let fd = 3; fd < 10; fd++) {
          try { fs.writeSync(fd, '{"type":"end"}\\n'); } catch (error) { failed.push(error.code) }
        }
        failed.length"""
        self.assertGreaterEqual(int(self.text(code)), 1)
        code = r"require('child_process').execSync('ls /proc/self/fd').toString().trim().split('\n').filter((fd) => fd > 3).length"
        self.assertEqual(self.text(code), "0")

    def test_the_runners_own_files_are_not_the_codes(self):
        self.assertEqual(
            self.text(
                "Object.keys(require.cache).filter((file) => file.includes('runners')).length"
            ),
            "0",
        )
        self.assertEqual(self.text("String(process.mainModule)"), "undefined")
        names = (
            "Object.keys(globalThis).filter((name) => /stepbox|require|display/.test(name)).length"
        )
        self.assertEqual(self.text(names), "0")

    def test_bad_requests_are_ignored(self):
        self.runner.send({"type": "unknown"})
        self.assertEqual(self.text("1"), "1")

    def test_a_request_in_many_pieces(self):
        code = "'%s'.length" % ("é" * 300000)
        line = json.dumps({"type": "run", "code": code, "env": {}}).encode() + b"\n"
        for begin in range(0, len(line), 100000):
            self.runner.socket.sendall(line[begin : begin + 100000])
            time.sleep(0.005)
        self.assertEqual(self.runner.finish()[1]["text"], "300000")
