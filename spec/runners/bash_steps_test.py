"""What a step of bash gives: output, a status, messages with lines of the code, and kept state."""

import os
import shlex
import time
import unittest

from bash_process import BashCase, BashProcess


class Results(BashCase):
    def test_the_exit_status_is_data(self):
        self.assertEqual(self.outcome("echo hi"), ("hi\n", "", 0))
        self.assertEqual(self.outcome("(exit 5)"), ("", "", 5))
        self.assertEqual(self.outcome("echo $?"), ("5\n", "", 0))

    def test_code_that_does_nothing(self):
        for code in ("", "  \n", "# a comment", "\n\n"):
            self.assertEqual(self.outcome(code), ("", "", 0))

    def test_messages_name_lines_of_the_code(self):
        stderr = self.outcome("nosuch1\n\nf() {\n  nosuch2\n}\nf")[1]
        self.assertEqual(
            stderr,
            "bash: line 1: nosuch1: command not found\nbash: line 4: nosuch2: command not found\n",
        )

    def test_a_command_that_is_not_there(self):
        self.assertEqual(
            self.outcome("nosuch"), ("", "bash: line 1: nosuch: command not found\n", 127)
        )

    def test_it_is_called_bash_and_has_no_arguments(self):
        self.prints('echo "$0" $# "${BASH_SOURCE[@]}"', "bash 0 bash\n")
        self.prints('f() { echo "${BASH_SOURCE[@]}" "${FUNCNAME[@]}"; }; f', "bash bash f main\n")
        self.prints('echo "${BASH_EXECUTION_STRING-unset}" $SHLVL', "unset 1\n")

    def test_traces_show_the_code_alone(self):
        self.assertEqual(self.outcome("set -x; echo a; set +x")[1], "+ echo a\n+ set +x\n")

    def test_unusual_code(self):
        self.prints("cat <<'EOF'\n$x `y`\nEOF", "$x `y`\n")
        self.prints("cat <<< 'a b'", "a b\n")
        self.prints("cat <(echo a) <(echo b)", "a\nb\n")
        self.prints("a=(1 '2 3'); declare -A m=([k]=v); echo ${#a[@]} ${m[k]}", "2 v\n")
        self.prints("echo ünï 🚀", "ünï 🚀\n")
        self.assertEqual(self.outcome("(( 1 == 2 ))"), ("", "", 1))

    def test_line_ends_of_other_systems(self):
        self.prints("echo a\r\nif true; then\r\n  echo b\r\nfi\r\n", "a\nb\n")
        self.prints("printf 'a\r\n'\necho b", "a\r\nb\n")

    def test_the_last_command_is_run_by_a_child_as_ever(self):
        self.prints("/bin/echo a", "a\n")
        self.prints("true && /bin/echo b", "b\n")

    def test_large_code_and_output(self):
        self.assertEqual(self.outcome("x=1\n" * 250_000), ("", "", 0))
        self.prints("echo " + "y" * 1_000_000 + " | wc -c", "1000001\n")
        text = self.outcome("head -c 5000000 /dev/zero | tr '\\0' z")[0]
        self.assertEqual(text, "z" * 5_000_000)

    def test_bytes_that_are_no_characters(self):
        self.prints("printf 'a\\xffb'", "a\ufffdb")

    def test_input_is_at_its_end(self):
        self.assertEqual(self.outcome("read x; echo $?; cat"), ("1\n", "", 0))


class SyntaxErrors(BashCase):
    def test_nothing_is_run_of_code_with_one(self):
        error = self.error("echo before\nif true; then\n  echo )\nfi")
        self.assertEqual(error["name"], "SyntaxError")
        self.assertEqual(error["value"], "line 3: syntax error near unexpected token `)'")
        self.assertEqual(
            error["traceback"],
            "bash: line 3: syntax error near unexpected token `)'\nbash: line 3: `  echo )'\n",
        )
        self.prints("echo $?", "2\n")

    def test_what_has_no_end(self):
        self.assertIn("unexpected EOF", self.error("echo 'a")["value"])
        self.assertIn("unexpected", self.error("echo $(a")["value"])
        self.assertIn("unexpected end of file", self.error("while true; do")["value"])

    def test_bytes_in_the_message(self):
        self.assertIn("ü", self.error("echo ü )")["traceback"])

    def test_code_that_changes_the_syntax_is_let_run(self):
        self.prints("shopt -s extglob\necho /us@(r|x)\nshopt -u extglob", "/usr\n")
        self.prints("alias begin='{'\nbegin echo a; }", "a\n")

    def test_errors_of_eval_are_bashs_own(self):
        stdout, stderr, status = self.outcome("eval 'if'; echo $?")
        self.assertIn((stdout, status), [("2\n", 0), ("1\n", 0)])
        self.assertIn("syntax error", stderr)

    def test_code_with_nul(self):
        self.assertEqual(self.error("echo a\0b")["value"], "the code has a NUL character in it")


class State(BashCase):
    def test_variables_functions_aliases_and_options(self):
        self.outcome("x=1; export y=2; a=(1 '2 3'); f() { echo f $1; }; alias g='f again'")
        self.outcome("shopt -s nullglob; set -o pipefail; umask 027; cd /usr; set -- p q")
        self.prints("echo $x ${a[1]} $(printenv y); f 1; g", "1 2 3 2\nf 1\nf again\n")
        self.prints("echo /nosuch*; umask; pwd; echo $2", "\n0027\n/usr\nq\n")
        self.assertEqual(self.outcome("false | true")[2], 1)
        self.outcome("set +o pipefail; shopt -u nullglob")

    def test_background_jobs_and_coprocesses(self):
        self.outcome("sleep 100 & job=$!")
        self.prints("kill -0 $job && jobs -r | wc -l", "1\n")
        self.outcome("kill $job; wait $job")

    def test_traps(self):
        self.outcome("trap 'echo got usr1' USR1")
        self.prints("kill -USR1 $$; echo after", "got usr1\nafter\n")
        self.outcome("trap - USR1")

    def test_redirections(self):
        self.outcome("exec 5>&1")
        self.prints("echo five >&5", "five\n")

    def test_errors_that_end_only_their_step(self):
        self.outcome("kept=yes")
        for code in ("set -u; echo $undefined; echo no", "echo ${undefined:?no}", "echo $((1/0))"):
            stdout, stderr, status = self.outcome(code)
            self.assertEqual((stdout, status), ("", 1))
            self.assertTrue(stderr.startswith("bash: line 1: "), stderr)
        self.prints("set +u; echo $kept", "yes\n")

    def test_set_n_holds_for_its_step(self):
        self.assertEqual(self.outcome("set -n\necho not run"), ("", "", 0))
        self.prints("echo run", "run\n")

    def test_a_function_that_was_left_in_the_middle_leaves_nothing(self):
        self.outcome("set -- kept; f() { local a=1; echo ${undefined:?no}; }; f x > /dev/null")
        self.prints('g() { echo ${FUNCNAME[*]}; }; echo "$1 $a"; g', "kept \ng main\n")

    def test_signals_are_as_they_are_for_any_program(self):
        # Of those above 31 the C library may have left its own ignored in whoever started the tests.
        ignored = "printf '%x\\n' $((0x$(sed -n 's/^SigIgn:.//p' /proc/$$/status) & 0x7fffffff))"
        self.prints("trap -p; " + ignored, "4\n")
        self.prints("export ignored=%s; sh -c \"$ignored\"; unset ignored" % shlex.quote(ignored), "0\n")
        self.prints("sh -c 'exec grep SigBlk /proc/$$/status'", "SigBlk:\t0000000000000000\n")

    def test_a_low_limit_of_descriptors(self):
        runner = BashProcess()
        self.addCleanup(runner.close)
        runner.step("ulimit -n 30")
        self.assertEqual(runner.step("nosuch")[1]["type"], "stderr")
        self.assertEqual(runner.step("if")[1]["name"], "SyntaxError")
        self.assertEqual(runner.step("nosuch")[1]["type"], "stderr")

    def test_closed_descriptors_come_back(self):
        self.outcome("exec 0<&- 1>&- 2>&-")
        self.assertEqual(self.outcome("echo a; echo b >&2; cat"), ("a\n", "b\n", 0))

    def test_loops_and_returns_of_the_code_end_nothing_else(self):
        self.assertEqual(self.outcome("break; continue; return 3; echo on")[0], "on\n")
        self.prints("(exit 4); echo $?; x=$(exit 5); echo $?", "4\n5\n")


class Ends(unittest.TestCase):
    def leaving(self, code, cwd="/tmp"):
        runner = BashProcess(cwd=cwd)
        self.addCleanup(runner.close)
        events = runner.step(code)
        self.assertEqual(events[-1], {"type": "end", "exit": True})
        self.assertEqual(events[-2]["type"], "result")
        self.assertEqual(runner.process.wait(5), 0)
        text = "".join(event.get("text", "") for event in events)
        return text, events[-2]["data"]["exit_status"]

    def test_exit_gives_its_status_and_runs_the_trap(self):
        self.assertEqual(self.leaving("trap 'echo bye' EXIT; exit 7; echo no"), ("bye\n", 7))
        self.assertEqual(self.leaving("f() { exit 3; }; f"), ("", 3))

    def test_set_e_ends_the_shell_and_says_so(self):
        code = "trap 'echo bye' EXIT; set -e; f() { echo a; false; }; f; echo b"
        text, status = self.leaving(code)
        self.assertEqual(status, 1)
        told = "bash: set -e has ended the shell; the next step gets a new one"
        self.assertEqual(sorted(text.splitlines()), sorted(["a", "bye", told]))

    def test_exec_lets_the_program_end_the_step(self):
        code = "echo a; exec sh -c 'echo b; sleep 0.3; echo c; exit 9'"
        self.assertEqual(self.leaving(code), ("a\nb\nc\n", 9))

    def test_a_shell_that_is_killed_is_a_crash(self):
        runner = BashProcess()
        with self.assertRaisesRegex(AssertionError, "the runner is gone"):
            runner.step("echo a; kill -9 $$; sleep 9")
        self.assertEqual(runner.process.wait(5), -9)
        runner.close()

    def test_the_shell_ends_with_its_runner(self):
        runner = BashProcess()
        pid = int(runner.step("echo $$")[1]["text"])
        runner.close()
        with self.assertRaises(ProcessLookupError):
            for _ in range(200):
                os.kill(pid, 0)
                time.sleep(0.01)


if __name__ == "__main__":
    unittest.main()
