"""Commands: in the foreground and in the background, with output as it comes, input, deadlines, and their end."""

import threading
import time

from e2b import (
    AuthenticationException,
    CommandExitException,
    InvalidArgumentException,
    NotFoundException,
    SandboxException,
    TimeoutException,
)
from in_sandbox import eventually, fails, in_sandbox

with in_sandbox("commands", envs={"OF_SANDBOX": "kept"}) as box:
    commands = box.commands

    def is_alive(pid):
        return commands.run(f"kill -0 {pid} 2>&1 && echo yes || true").stdout == "yes\n"

    # In the foreground: result, directory, environment, user.
    plain = commands.run("echo out; echo err >&2")
    assert (plain.exit_code, plain.stdout, plain.stderr, plain.error) == (0, "out\n", "err\n", None), plain
    assert commands.run("").exit_code == 0
    assert commands.run("pwd; id -un; echo $HOME $USER").stdout == "/home/user\nuser\n/home/user user\n"
    assert commands.run("id -un", user="user").stdout == "user\n"
    assert commands.run("pwd", cwd="/tmp").stdout == "/tmp\n"
    assert commands.run("echo $OF_SANDBOX").stdout == "kept\n"
    value = "it's \"quoted\"\nand $HOME\ttwo lines 🌍"
    assert commands.run('printf %s "$VALUE"', envs={"VALUE": value}).stdout == value

    # An exit code that is not 0, an end by a signal, what cannot be started.
    with fails(CommandExitException) as seven:
        commands.run("echo partial; echo why >&2; exit 7")
    assert (seven.error.exit_code, seven.error.stdout, seven.error.stderr) == (7, "partial\n", "why\n")
    assert seven.error.error == "exit status 7"
    with fails(CommandExitException) as killed:
        commands.run("kill -TERM $$")
    assert (killed.error.exit_code, killed.error.error) == (-1, "signal: terminated")
    with fails(InvalidArgumentException):
        commands.run("true", cwd="/not/there")
    with fails(AuthenticationException):
        commands.run("true", user="nobody-like-this")

    # Output as it comes: characters cut in two, much of it, both streams.
    seen = []
    commands.run(
        r"echo one; sleep 0.1; echo two >&2; sleep 0.1; printf '\xf0\x9f'; sleep 0.1; printf '\x8c\x8d\n'",
        on_stdout=lambda text: seen.append(f"out {text}"),
        on_stderr=lambda text: seen.append(f"err {text}"),
    )
    assert seen == ["out one\n", "err two\n", "out 🌍\n"], seen
    much = commands.run("seq 1 500000").stdout
    assert len(much) == 3_388_895 and much.endswith("\n499999\n500000\n")
    pieces = []
    unkept = commands.run("seq 1 100000", on_stdout=pieces.append, retain_output=False)
    assert unkept.stdout is None and "".join(pieces).endswith("\n99999\n100000\n")

    # In the background: iterated, listed, killed with its children.
    server = commands.run("sleep 600 & echo $!; wait", background=True, cwd="/tmp", envs={"TAG": "x"})
    child = next(stdout for stdout, _, _ in server if stdout).strip()
    listed = next(p for p in commands.list() if p.pid == server.pid)
    assert (listed.cmd, listed.args) == ("/bin/bash", ["-l", "-c", "sleep 600 & echo $!; wait"])
    assert (listed.cwd, listed.envs, listed.tag) == ("/tmp", {"TAG": "x"}, None)
    assert is_alive(child)
    assert server.kill()
    with fails(CommandExitException) as end:
        server.wait()
    assert (end.error.exit_code, end.error.error) == (-1, "signal: killed")
    eventually("the end of the child", lambda: not is_alive(child))
    eventually("the end of the entry", lambda: all(p.pid != server.pid for p in commands.list()))
    assert not commands.kill(server.pid)

    # Whoever disconnects leaves it running; another connects and sees what comes from then on.
    ticking = commands.run("while [ ! -e go ]; do sleep 0.05; done; echo late; exit 3", background=True)
    ticking.disconnect()
    again = commands.connect(ticking.pid)
    commands.run("touch go")
    late = []
    with fails(CommandExitException) as end:
        again.wait(on_stdout=late.append)
    assert (end.error.exit_code, late) == (3, ["late\n"])
    with fails(NotFoundException):
        commands.connect(999_999)

    # Input: text and bytes, streamed, to its end. Without it, standard input is empty.
    assert commands.run("cat; echo done").stdout == "done\n"
    cat = commands.run("cat", background=True, stdin=True)
    cat.send_stdin("text 🌍\n")
    commands.send_stdin(cat.pid, b"b\n")
    commands.stream_input(cat.pid, (f"{i}\n" for i in range(2000)))
    cat.close_stdin()
    expected = "text 🌍\nb\n" + "".join(f"{i}\n" for i in range(2000))
    assert cat.wait().stdout == expected
    with fails(NotFoundException):
        commands.send_stdin(cat.pid, "x")
    with fails(NotFoundException):
        commands.stream_input(cat.pid, ["x"])
    counting = commands.run("wc -c", background=True, stdin=True)
    commands.stream_input(counting.pid, (b"x" * 100_000 for _ in range(50)))
    commands.close_stdin(counting.pid)
    assert counting.wait().stdout == "5000000\n"
    deaf = commands.run("sleep 600", background=True)
    with fails(SandboxException):
        deaf.send_stdin("x")
    deaf.kill()

    # A deadline ends it and all that it started.
    pids = []
    begun = time.monotonic()
    with fails(TimeoutException):
        commands.run("sleep 600 & echo $!; echo $$; wait", timeout=0.5, on_stdout=pids.append)
    assert time.monotonic() - begun < 3
    both = "".join(pids).split()
    assert len(both) == 2, pids
    for pid in both:
        eventually(f"the end of {pid}", lambda pid=pid: not is_alive(pid))

    # A child that keeps the pipes does not keep the command.
    assert commands.run("sleep 600 & echo leader", timeout=5).stdout == "leader\n"

    # A sandbox that is killed ends its commands, and what comes after.
    last = commands.run("echo up; sleep 600", background=True)
    assert next(iter(last))[0] == "up\n"
    threading.Timer(0.1, box.kill).start()
    with fails(TimeoutException):
        last.wait()
    with fails(TimeoutException):
        commands.run("true")
