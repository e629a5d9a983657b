#!/usr/bin/env python3
"""Replays the recorded requests of the real code interpreter against an agent, and compares.

    replay.py [--agent build/bin/stepbox-agent] [--only NAME ...] [--verbose]
    replay.py --address HOST:PORT [--header 'Name: value' ...] [--home DIR]

The first form starts an agent of its own; the second takes one that runs, alone or in a sandbox
behind the engine's gateway. Where the answer differs on purpose, differences.json has the reason
and our answer, which is then what is compared.
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.dont_write_bytecode = True

import normal_form
from agent_http import Agent

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RECORDED_HOME = "/home/user"
STRAY = "/tmp/x.png"  # what one recorded case writes outside of its home
SLACK = 4.0  # seconds that an answer may take beyond the recorded time
WORKERS = 3

# Requests that belong together, in their order. All others stand alone.
SEQUENCES = (
    ("contexts_list",),
    ("env_persist_1_set", "env_persist_2_after"),
    ("exit_1_setup", "exit_2_call", "exit_3_immediately_after", "exit_4_5s_after"),
    ("loop_1_disconnect", "loop_2_after_1.5s"),
    ("loop_print_1_disconnect", "loop_print_2_after_1.5s"),
    ("loop_catch_1_disconnect", "loop_catch_2_after"),
    ("same_ctx_1_busy", "same_ctx_2_waiting"),
    (
        "restart_during_exec",
        "restart_during_exec_call",
        "restart_after",
        "restart_after_cwd",
        "delete_during_exec",
        "delete_during_exec_call",
    ),
)
# Sent while the one before still runs, so many seconds after its first event.
OVERLAPPING = {
    "same_ctx_2_waiting": 0.4,
    "restart_during_exec_call": 0.5,
    "delete_during_exec_call": 0.5,
}
START = 20  # seconds that a context may take until its first event
PAUSES = {"loop_2_after_1.5s": 1.5, "loop_print_2_after_1.5s": 1.5, "exit_4_5s_after": 5.0}
# The writers of these are two descriptors, or two processes: nobody knows their order.
UNORDERED = ("bytes_fd1_sleep", "subprocess_out", "magic_bash")


class Case:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.recorded = json.load(file)
        self.name = os.path.basename(path)[: -len(".json")]
        self.request = self.recorded["request"]
        body = self.request.get("body")
        self.context = body.get("context_id") if isinstance(body, dict) else None
        self.relative_count = self.is_execution() and self.context in (None, "", "default")

    def is_execution(self):
        return self.request["method"] == "POST" and self.request["path"] == "/execute"

    def starts_language(self):
        """Whether it may be the first that needs the default context of another language."""
        body = self.request.get("body")
        return self.is_execution() and isinstance(body, dict) and "language" in body

    def hangs_up(self):
        return self.recorded["ended"] == "client aborted"


class Replay:
    def __init__(self, agent, home, differences):
        self.agent = agent
        self.home = home
        self.differences = differences
        self.contexts = {}
        self.lock = threading.Lock()

    def fresh_context(self, recorded_id):
        """The context that stands for a recorded one."""
        with self.lock:
            if recorded_id not in self.contexts:
                self.contexts[recorded_id] = self.agent.new_context()
            return self.contexts[recorded_id]

    def end_context(self, recorded_id):
        with self.lock:
            context = self.contexts.pop(recorded_id, None)
        if context:
            self.agent.delete_context(context)

    def send(self, case, begun):
        request = case.request
        body, path = request.get("body"), request["path"]
        headers = dict(request.get("headers") or {})
        if isinstance(body, dict) and normal_form.UUID.fullmatch(str(body.get("context_id"))):
            body = dict(body, context_id=self.fresh_context(body["context_id"]))
        if isinstance(body, dict) and isinstance(body.get("code"), str):
            body = dict(body, code=body["code"].replace(RECORDED_HOME, self.home))
        for recorded_id in normal_form.UUID.findall(path):
            path = path.replace(recorded_id, self.fresh_context(recorded_id))
        if "raw" in request:
            data = request["raw"].encode()
        elif body is None:
            data = None
        else:
            data = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        hang_up_after = case.recorded["ms"] / 1000 if case.hangs_up() else None
        return self.agent.request(
            request["method"], path, data, headers, hang_up_after, begun=begun
        )

    def compare(self, case, reply):
        expected = self.expectation(case, self.differences.get(case.name, {}))
        if case.name in self.differences and expected == self.expectation(case, {}):
            raise AssertionError("differences.json lists it, but nothing differs")
        check(reply.ended, case.recorded["ended"], "the end of the answer")
        check(reply.status, expected["status"], "the status (%.300r)" % reply.body)
        content_type = reply.headers.get("content-type")
        check(content_type, expected["content_type"], "the content type")
        limit = case.recorded["ms"] / 1000 + (START if case.starts_language() else SLACK)
        if reply.seconds > limit:
            raise AssertionError("%.1f s, but at most %.1f" % (reply.seconds, limit))
        if "events" in expected:
            self.compare_events(case, reply, expected["events"])
        else:
            check(normal_form.body(reply.body, self.home), expected["body"], "the body")

    def compare_events(self, case, reply, expected):
        if case.hangs_up():
            whole, _, _ = reply.body.rpartition(b"\n")
            compare_beginning(normal_form.parse_lines(whole), expected)
            return
        fresh = normal_form.events(normal_form.parse_lines(reply.body), case.relative_count)
        for event in fresh:
            if "text" in event:
                event["text"] = event["text"].replace(self.home, RECORDED_HOME)
        if case.name in UNORDERED:
            fresh, expected = normal_form.by_stream(fresh), normal_form.by_stream(expected)
        check(fresh, expected, "the events")

    def expectation(self, case, difference):
        """The recorded answer, with what the list of differences puts in its place."""
        recorded = case.recorded
        expected = {
            "status": difference.get("status", int(recorded["status"].split()[0])),
            "content_type": difference.get("content_type", recorded["content_type"]),
        }
        if "body" in difference:
            expected["body"] = difference["body"]
        elif "events" in difference:
            expected["events"] = difference["events"]
        elif "body_head" in recorded:
            expected["events"] = rebuild_events(recorded)
        elif "events" in recorded:
            events = normal_form.events(recorded["events"], case.relative_count)
            expected["events"] = change_events(events, difference)
        else:
            expected["body"] = normal_form.body(recorded["body"], RECORDED_HOME)
        return expected


def change_events(events, difference):
    """Events, or keys of events, that are left out; and values of keys that differ."""
    without, replace = difference.get("without", ()), difference.get("replace", {})
    changed = []
    for event in events:
        if event["type"] not in without:
            kept = {key: value for key, value in event.items() if key not in without}
            kept.update((key, value) for key, value in replace.items() if key in event)
            changed.append(kept)
    return changed


def check(fresh, expected, what):
    if fresh != expected:
        raise AssertionError(
            "%s:\n    is       %s\n    expected %s" % (what, shorten(fresh), shorten(expected))
        )


def shorten(value, limit=3000):
    written = json.dumps(value, ensure_ascii=False)
    return written if len(written) <= limit else written[:limit] + "... (%d)" % len(written)


def compare_beginning(fresh, expected):
    """Of an answer that the client did not wait for: the same up to where it was left."""
    fresh = normal_form.events(fresh)
    check([event["type"] for event in fresh], [event["type"] for event in expected], "the events")
    for ours, theirs in zip(fresh, expected):
        if "text" in ours:
            shorter, longer = sorted((ours["text"], theirs["text"]), key=len)
            if not shorter or not longer.startswith(shorter):
                raise AssertionError("the output: %r, expected %r" % (ours, theirs))
        else:
            check(ours, theirs, "an event")


def rebuild_events(recorded):
    """Of long answers the recording keeps both ends and the size: the middle is one letter."""
    head, tail, size = recorded["body_head"], recorded["body_tail"], recorded["body_bytes"]
    whole = head + head[-1] * (size - len(head) - len(tail)) + tail
    return normal_form.events([json.loads(line) for line in whole.splitlines()])


def run_sequence(replay, cases, report):
    """One case after the other; some while the one before them runs."""
    before = None
    with concurrent.futures.ThreadPoolExecutor(2) as overlapping:
        for case in cases:
            time.sleep(PAUSES.get(case.name, 0))
            if case.name in OVERLAPPING:
                before.wait(START)
                time.sleep(OVERLAPPING[case.name])
            begun = threading.Event()
            future = overlapping.submit(attempt, replay, case, begun, report)
            following = cases[cases.index(case) + 1 :]
            if not following or following[0].name not in OVERLAPPING:
                future.result()
            before = begun
    for context in {case.context for case in cases}:
        replay.end_context(context)


def attempt(replay, case, begun, report):
    try:
        replay.compare(case, replay.send(case, begun.set))
        report(case.name, None)
    except AssertionError as error:
        report(case.name, str(error))
    except Exception:
        report(case.name, traceback.format_exc())


def load_sequences(only):
    directory = os.path.join(HERE, "events")
    cases = {}
    for name in sorted(os.listdir(directory)):
        case = Case(os.path.join(directory, name))
        cases[case.name] = case
    sequences = [[cases.pop(name) for name in names] for names in SEQUENCES]
    # One after the other, because they share the default context.
    default = [case for case in cases.values() if case.relative_count]
    single = [[case] for case in cases.values() if not case.relative_count]
    # The long ones first, so that the end does not wait for one of them.
    sequences = [sequences[0]] + sorted(
        sequences[1:] + [default] + single, key=lambda s: -sum(c.recorded["ms"] for c in s)
    )
    if only:
        sequences = [s for s in sequences if any(case.name in only for case in s)]
    return sequences


class Report:
    """Prints outcomes as they come, and the closing line."""

    def __init__(self, differences, verbose):
        self.differences = differences
        self.verbose = verbose
        self.passed = set()
        self.lock = threading.Lock()

    def __call__(self, name, failure):
        with self.lock:
            if failure is not None:
                print("FAIL %s: %s" % (name, failure), flush=True)
                return
            self.passed.add(name)
            if self.verbose:
                reason = self.differences.get(name, {}).get("reason")
                print("ok   %s%s" % (name, " (differs: %s)" % reason if reason else ""), flush=True)

    def close(self, names):
        failed = len(names) - len(self.passed)
        print("%d passed, %d failed" % (len(self.passed), failed))
        return 1 if failed or not names else 0


class OwnAgent:
    """An agent of our own, on free ports, with a home directory that goes away with it."""

    def __init__(self, program, runners):
        self.home = tempfile.mkdtemp(prefix="stepbox-conformance-")
        ports = []
        sockets = [socket.socket() for _ in range(2)]
        for probe in sockets:
            probe.bind(("127.0.0.1", 0))
            ports.append(probe.getsockname()[1])
        for probe in sockets:
            probe.close()
        self.port = ports[1]
        addresses = "127.0.0.1:%d,127.0.0.1:%d" % tuple(ports)
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": self.home}
        command = [program, "--listen", addresses, "--runners", runners, "--home", self.home]
        self.had_stray = os.path.exists(STRAY)
        self.process = subprocess.Popen(command, env=environment, start_new_session=True)
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.close()
                    sys.exit("the agent does not listen")
                time.sleep(0.02)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)
        if not self.had_stray:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(STRAY)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--agent", default=os.path.join(ROOT, "build", "bin", "stepbox-agent"))
    parser.add_argument("--runners", help="those that were built with the agent, by default")
    parser.add_argument("--address", metavar="HOST:PORT")
    parser.add_argument("--header", action="append", default=[], metavar="'NAME: VALUE'")
    parser.add_argument("--home", default=RECORDED_HOME)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


def main():
    # So that the agent and its home directory go away in any case.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    arguments = parse_arguments()
    with open(os.path.join(HERE, "differences.json"), encoding="utf-8") as file:
        differences = json.load(file)
    sequences = load_sequences(arguments.only)
    names = [case.name for sequence in sequences for case in sequence]
    unknown = differences.keys() - set(names)
    if unknown and not arguments.only:
        sys.exit("differences.json has cases that were not recorded: %s" % sorted(unknown))

    own = None
    if arguments.address:
        host, _, port = arguments.address.rpartition(":")
        headers = dict(map(str.strip, header.split(":", 1)) for header in arguments.header)
        agent, home = Agent(host, int(port), headers), arguments.home
    else:
        program = os.path.abspath(arguments.agent)
        built = os.path.join(os.path.dirname(program), "..", "share", "stepbox", "runners")
        own = OwnAgent(program, os.path.abspath(arguments.runners or built))
        agent, home = Agent("127.0.0.1", own.port), own.home
    replay = Replay(agent, home, differences)
    report = Report(differences, arguments.verbose)
    try:
        run_sequence(replay, sequences[0], report)
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(lambda s: run_sequence(replay, s, report), sequences[1:]))
    finally:
        if own:
            own.close()
    return report.close(names)


if __name__ == "__main__":
    sys.exit(main())
