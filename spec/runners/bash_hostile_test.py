"""Variables of a step are data and go again; code cannot speak for the runner."""

import time
import unittest

from bash_process import BashCase, BashProcess

NASTY = 'it\'s "q" $(echo run) `echo run` ${x} \\n \\\n\n;|&*\t🚀'


class Variables(BashCase):
    def test_values_are_data(self):
        self.prints('printf %s "$V"', NASTY, env={"V": NASTY})
        self.prints('printf "%s." "$(printenv V)"', NASTY + ".", env={"V": NASTY})
        self.prints("echo ${V-unset}; printenv V | wc -l", "unset\n0\n")

    def test_earlier_values_come_back_with_their_attributes(self):
        self.outcome("A=old; B=(1 2); declare -i C=3; export D=d; E=e")
        env = dict.fromkeys("ABCDE", "new")
        code = "echo $A ${B[*]} $C $D $E; env | grep -c =new"
        self.prints(code, "new new new new new\n5\n", env=env)
        self.prints(
            "declare -p A B C D E",
            'declare -- A="old"\ndeclare -a B=([0]="1" [1]="2")\ndeclare -i C="3"\n'
            'declare -x D="d"\ndeclare -- E="e"\n',
        )

    def test_what_the_code_does_to_them_is_for_the_step(self):
        self.outcome("A=old")
        self.outcome("unset A; A=(1 2); readonly A", env={"A": "new"})
        self.prints("A+=er; echo $A", "older\n")
        self.outcome("unset F; declare -A F", env={"F": "x"})
        self.prints("echo ${F-unset}", "unset\n")

    def test_names_that_are_no_identifiers_reach_children(self):
        self.prints("env | grep -c '^a[-.]b=x'", "2\n", env={"a-b": "x", "a.b": "x"})
        self.assertEqual(self.outcome("env | grep -c '^a[-.]b='")[0], "0\n")

    def test_those_that_bash_heeds_work(self):
        self.assertEqual(self.outcome("ls", env={"PATH": "/nonexistent"})[2], 127)
        self.assertEqual(self.outcome("ls > /dev/null")[2], 0)
        self.prints("set -- $X; echo $#", "2\n", env={"IFS": ":", "X": "a:b"})
        self.prints('printf %q "$IFS"', "$' \\t\\n'")

    def test_bad_ones_are_errors_and_nothing_runs(self):
        self.outcome("readonly FIXED=1")
        for name, value, word in (
            ("", "x", "empty"),
            ("A=B", "x", "'='"),
            ("A", "a\0b", "NUL"),
            ("A\0B", "x", "NUL"),
            ("UID", "1", "readonly"),
            ("FIXED", "2", "readonly"),
            ("SHELLOPTS", "x", "readonly"),
        ):
            error = self.error("touch /nonexistent/x; echo ran", env={"GOOD": "1", name: value})
            self.assertEqual(error["name"], "ValueError")
            self.assertIn(word, error["value"])
        self.prints("echo $FIXED ${GOOD-unset}", "1 unset\n")


class Channel(BashCase):
    END = '{"type": "end"}'

    def test_children_and_the_shell_have_no_descriptor_of_it(self):
        for code in (
            "for each in /proc/$$/fd/*; do readlink $each; done",
            "(for each in /proc/self/fd/*; do readlink $each; done)",
            "ls -l /proc/self/fd",
            "cat /proc/self/maps",
        ):
            self.prints(code + " | grep -c -e socket -e stepbox-step; true", "0\n")

    def test_lines_of_the_protocol_are_output(self):
        code = "echo '%s'; printf '%%s\\n' '%s' >&2; (echo '%s')" % (self.END, self.END, self.END)
        events = self.events(code)
        self.assertEqual(
            "".join(e["text"] for e in events[:-1]).splitlines(), [self.END] * 3, events
        )

    def test_a_line_written_to_every_descriptor_ends_nothing(self):
        code = (
            "for fd in {3..9} {190..260} {890..1030}; do echo '%s' >&$fd; done 2> /dev/null\n"
            "(for fd in {3..9} {190..260} {890..1030}; do echo '%s' >&$fd; done 2> /dev/null)\n"
            "echo last" % (self.END, self.END)
        )
        self.assertTrue(self.outcome(code)[0].endswith("last\n"))
        self.prints("echo on", "on\n")

    def test_signals_to_the_runner_end_nothing(self):
        self.outcome("kill -TERM $PPID; kill -USR1 $PPID; kill -HUP $PPID; kill -QUIT $PPID")
        self.prints("echo on", "on\n")

    def test_names_of_the_code_hide_nothing_of_the_runner(self):
        names = ("eval", "builtin", "stepbox_shell", "exit", "set", "trap")
        self.outcome("".join("%s() { :; }\n" % name for name in names))
        self.prints("echo on", "on\n")
        self.outcome("unset -f " + " ".join(names))
        self.assertEqual(self.outcome("stepbox_shell 3 1")[2], 2)
        self.prints("enable -n echo; printf on", "on")
        self.outcome("enable echo")

    def test_output_is_seen_at_once(self):
        self.runner.start("echo -n a; sleep 5; echo b")
        begin = time.monotonic()
        first = self.runner.wait(lambda event: event["type"] == "stdout")
        self.assertEqual(first[-1]["text"], "a")
        self.assertLess(time.monotonic() - begin, 4)
        self.runner.interrupt()
        self.runner.finish()

    def test_what_goes_on_in_the_background_writes_into_later_steps(self):
        self.outcome("(sleep 0.2; echo late) &")
        self.prints("sleep 0.5", "late\n")


class Start(unittest.TestCase):
    def test_environment_files_are_read_once_by_the_shell(self):
        runner = BashProcess(env={"BASH_ENV": "/dev/fd/9", "SHLVL": "4"})
        self.addCleanup(runner.close)
        self.assertEqual(runner.step("echo $BASH_ENV $SHLVL")[1]["text"], "/dev/fd/9 5\n")

    def test_exported_functions_are_imported(self):
        runner = BashProcess(env={"BASH_FUNC_f%%": "() { echo from outside; }"})
        self.addCleanup(runner.close)
        self.assertEqual(runner.step("f")[1]["text"], "from outside\n")


if __name__ == "__main__":
    unittest.main()
