"""Terminals: a shell with its size, its signals, its characters, its end."""

import re

from e2b import CommandExitException, NotFoundException, SandboxException
from e2b.sandbox.commands.command_handle import PtySize
from in_sandbox import eventually, fails, in_sandbox

with in_sandbox("terminals") as box:
    pty = box.pty

    class Screen:
        """A shell; its text is all that it has shown."""

        def __init__(self, **options):
            self.handle = pty.create(PtySize(cols=80, rows=24), timeout=60, **options)
            self.bytes = b""

        def type(self, text):
            pty.send_stdin(self.handle.pid, text.encode())

        def shows(self, pattern):
            """Reads until it shows this; the handle's deadline ends a wait in vain."""
            while not (found := re.search(pattern, self.bytes.decode(errors="replace"))):
                for _, _, data in self.handle:
                    self.bytes += data
                    break
                else:
                    raise AssertionError(f"it ended with {self.bytes!r}")
            return found

    shell = Screen(cwd="/tmp", envs={"GREETING": "it's me"})
    shell.type('echo "<$(tty) $PWD $TERM $LANG $GREETING>"\n')
    shell.shows(r"</dev/pts/\d+ /tmp xterm-256color C\.UTF-8 it's me>")
    shell.type('echo "[$(stty size)]"\n')
    shell.shows(r"\[24 80\]")
    shell.type("trap 'echo changed to $(stty size)' WINCH; echo re''ady\n")
    shell.shows("ready")
    pty.resize(shell.handle.pid, PtySize(cols=132, rows=50))
    shell.type("\n")
    shell.shows("changed to 50 132")
    pty.stream_input(shell.handle.pid, ["printf '<%s>", "\\n' 'grüße 🌍'\n"])
    shell.shows("<grüße 🌍>")

    # Ctrl-C is for the foreground alone; the shell goes on.
    shell.type('trap - WINCH; sh -c "echo be""gun; exec sleep 600"\n')
    shell.shows("begun")
    shell.type("\x03")
    shell.type("echo code $?\n")
    shell.shows("code 130")

    # It is listed, may be left and found again.
    assert next(p for p in box.commands.list() if p.pid == shell.handle.pid).args == ["-i", "-l"]
    shell.handle.disconnect()
    again = pty.connect(shell.handle.pid)
    shell.type("echo still $((40 + 2)); exit 3\n")
    found = []
    with fails(CommandExitException) as end:
        again.wait(on_pty=found.append)
    assert end.error.exit_code == 3
    assert b"still 42" in b"".join(found)
    with fails(NotFoundException):
        shell.type("x")
    with fails(NotFoundException):
        pty.resize(shell.handle.pid, PtySize(cols=1, rows=1))

    # Its end by a signal, with its children.
    doomed = Screen()
    with fails(SandboxException):
        box.commands.send_stdin(doomed.handle.pid, "x")
    doomed.type('sleep 600 & echo "<$!>"\n')
    child = doomed.shows(r"<(\d+)>").group(1)
    assert pty.kill(doomed.handle.pid)
    with fails(CommandExitException) as end:
        doomed.handle.wait()
    assert end.error.exit_code == -1
    eventually(
        "the end of its child",
        lambda: box.commands.run(f"kill -0 {child} 2>/dev/null || echo gone").stdout == "gone\n",
    )
    assert not pty.kill(doomed.handle.pid)
