"""The runner alone on a bare socket pair: prints the seconds that one step takes, on average.

    python3 bare_runner.py MAIN_PY STEPS

It is what a step through client, engine and agent is compared with.
"""

import json
import os
import socket
import subprocess
import sys
import time


def main():
    ours, theirs = socket.socketpair()
    sink = os.open(os.devnull, os.O_RDWR)
    subprocess.Popen(
        ["/usr/bin/python3", sys.argv[1], str(theirs.fileno())],
        pass_fds=[theirs.fileno()], stdin=sink, stdout=sink, stderr=sink,
    )
    theirs.close()
    lines = ours.makefile("rb")
    assert json.loads(lines.readline())["type"] == "ready"

    def step(code):
        ours.sendall(json.dumps({"type": "run", "code": code, "env": {}}).encode() + b"\n")
        while True:
            kind = json.loads(lines.readline())["type"]
            if kind == "drain":
                ours.sendall(b'{"type":"drained"}\n')
            elif kind == "end":
                return

    step("x = 1")
    count = int(sys.argv[2])
    start = time.monotonic()
    for _ in range(count):
        step("x = 1")
    print((time.monotonic() - start) / count)


main()
