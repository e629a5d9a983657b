"""Interrupts reach the code of a step, wherever it is, and nothing else; the state is kept."""

import time

from javascript_process import JavaScriptCase

SLEEP = "const sleep = (ms) => new Promise((go) => setTimeout(go, ms));\n"


class Interrupts(JavaScriptCase):
    def check(self, code, **options):
        events = self.interrupted(code, **options)
        errors = [event for event in events if event["type"] == "error"]
        self.assertEqual(
            errors,
            [{"type": "error", "name": "KeyboardInterrupt", "value": "", "traceback": ""}],
            code,
        )
        self.assertEqual(events[-1], {"type": "end"})
        # Nothing of it goes on: what the next step shows is its own.
        time.sleep(0.03)
        self.assertEqual(self.text("await new Promise((go) => setTimeout(go, 40)); 21"), "21", code)

    def test_loops(self):
        self.check("var i = 0; while (true) i++")
        self.assertEqual(self.text("i > 0"), "true")
        self.check("while (true) { try { while (true) {} } catch {} finally { while (true) {} } }")
        self.check("[1, 2, 3].sort(() => { while (true) {} })")
        self.check("/(a+)+$/.test('a'.repeat(50) + 'b')")

    def test_loops_that_print(self):
        self.check("while (true) { console.log('x'); console.error('y') }")
        self.check("while (true) display(1)")
        self.check("while (true) process.stdout.write('x'.repeat(100000))")

    def test_the_streams_live_on(self):
        """One that comes while a stream writes leaves it able to write."""
        for _ in range(15):
            for code in ("while (true) console.log('x')", "while (true) console.error('x')"):
                self.interrupted(code, after=0.01)
                self.assertEqual(
                    self.output("console.log('out'); console.error('err')"),
                    [("stdout", "out\n"), ("stderr", "err\n")],
                )

    def test_waiting(self):
        self.check("await new Promise(() => {})")
        self.check("new Promise(() => {})")
        self.check("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)")

    def test_loops_that_wait(self):
        self.check(SLEEP + "for (;;) { await sleep(5); console.log('tick') }")
        self.check(
            SLEEP
            + "async function main() { for (;;) { await sleep(5); console.log('tick') } }\nmain()"
        )
        self.check(
            "import { setTimeout as later } from 'timers/promises'; for (;;) { await later(5); console.log('tick') }"
        )
        self.check(
            "const later = require('util').promisify(setTimeout); for (;;) { await later(5); console.log('tick') }"
        )
        self.check("setInterval(() => console.log('tick'), 5); await new Promise(() => {})")

    def test_code_after_an_await(self):
        self.check("await null; while (true) {}")
        self.check("for (;;) await null")
        self.check("async function busy() { for (;;) await null }\nawait busy()")
        self.check("process.nextTick(function again() { process.nextTick(again) }); 1")

    def test_callbacks(self):
        self.check("setTimeout(() => { while (true) {} }, 10); await new Promise(() => {})")
        self.check("setInterval(() => { while (true) {} }, 10); await new Promise(() => {})")
        self.check("setImmediate(() => { while (true) {} }); await new Promise(() => {})")
        self.check("queueMicrotask(() => { while (true) {} }); await new Promise(() => {})")
        self.check(
            "require('fs').readFile('/dev/null', () => { while (true) {} }); await new Promise(() => {})"
        )

    def test_what_shows_values(self):
        self.check("({ [Symbol.for('Jupyter.display')]() { while (true) {} } })")
        self.check("({ [Symbol.for('nodejs.util.inspect.custom')]() { while (true) {} } })")
        self.check("throw { message: 'm', get stack() { while (true) {} } }")

    def test_child_processes(self):
        self.check("require('child_process').execSync('sleep 60')")
        self.check("require('child_process').execSync('sleep 60; true')")
        self.check("require('child_process').spawnSync('sleep', ['60']); while (true) {}")
        self.check(
            "const child = require('child_process').spawn('sleep', ['60']); await new Promise((end) => child.on('close', end)); while (true) {}"
        )
        self.assertEqual(self.text("child.signalCode"), "SIGINT")

    def test_child_processes_that_are_about_to_start(self):
        for i in range(40):
            self.check("require('child_process').execSync('sleep 60')", after=i % 10 / 2000)

    def test_child_processes_of_earlier_steps_live_on(self):
        self.events("var earlier = require('child_process').spawn('sleep', ['60'])")
        self.check("require('child_process').execSync('sleep 60')")
        self.assertEqual(
            self.text("earlier.exitCode === null && earlier.signalCode === null"), "true"
        )
        self.events("earlier.kill()")

    def test_timers_of_earlier_steps_live_on(self):
        self.events("var ticks = 0; var ticking = setInterval(() => ticks++, 5)")
        self.check("while (true) {}")
        self.assertEqual(
            self.text(
                "const was = ticks; await new Promise((go) => setTimeout(go, 50)); ticks > was"
            ),
            "true",
        )
        self.events("clearInterval(ticking)")

    def test_one_of_many_and_the_next_step(self):
        for _ in range(30):
            self.check("while (true) {}", after=0.02)

    def test_several_at_once(self):
        self.runner.start("while (true) {}")
        events = self.runner.wait(lambda event: event["type"] == "number_of_executions")
        for _ in range(5):
            self.runner.interrupt()
        events += self.runner.finish()
        self.assertEqual(
            [event["type"] for event in events], ["number_of_executions", "error", "end"]
        )
        time.sleep(0.1)
        self.assertEqual(self.text("21"), "21")

    def test_between_steps_they_mean_nothing(self):
        for _ in range(50):
            self.runner.interrupt()
            time.sleep(0.001)
        self.assertEqual(self.text("21"), "21")
        self.events(
            "setTimeout(() => { const end = Date.now() + 200; while (Date.now() < end); globalThis.done = true }, 1)"
        )
        time.sleep(0.05)
        self.runner.interrupt()
        time.sleep(0.2)
        self.assertEqual(self.text("done"), "true")

    def test_right_after_the_start(self):
        runner = self.start()
        runner.interrupt()
        time.sleep(0.05)
        self.assertEqual(runner.step("21")[1]["text"], "21")
        runner.close()

    def test_close_to_the_end_of_a_step(self):
        for i in range(60):
            self.runner.start("await null; for (let i = 0; i < 2e5; i++); 21")
            time.sleep(0.0002 * (i % 15))
            self.runner.interrupt()
            events = self.runner.finish()
            kinds = [event["type"] for event in events]
            self.assertIn(kinds[1:], (["result", "end"], ["error", "end"]), events)
        self.assertEqual(self.text("21"), "21")

    def test_handlers_of_the_code_hear_of_it_but_do_not_stop_it(self):
        self.events("var heard = 0; process.on('SIGINT', () => heard++)")
        self.check("await new Promise(() => {})")
        self.check("while (true) {}")
        self.assertEqual(self.text("heard >= 1"), "true")
        self.events("process.removeAllListeners('SIGINT')")
        self.check("while (true) {}")

    def test_the_code_may_interrupt_itself(self):
        events = self.runner.step("process.kill(process.pid, 'SIGINT'); while (true) {}")
        self.assertEqual([event.get("name") for event in events], [None, "KeyboardInterrupt", None])
