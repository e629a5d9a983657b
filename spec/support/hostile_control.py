"""A naive engine for a hostile agent: hands it one connection, believes it, and says after a second what came.

    python3 hostile_control.py PROGRAM

Prints {"answer": bytes of its answer, "errors": bytes on its standard error, "words": datagrams on the control
socket, "descriptors": with them}; what is "started" with 204 counts as an answer of a good agent.
"""
import array
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time

ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
near, far = socket.socketpair()
read, write = os.pipe()
agent = subprocess.Popen([sys.argv[1], "--control", str(theirs.fileno())], pass_fds=[theirs.fileno()], stderr=write,
                         start_new_session=True)
os.close(write)
theirs.close()
ours.sendmsg([b"C\1\0\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [far.fileno()]))])
far.close()
near.sendall(b"POST /init HTTP/1.1\r\n\r\n")
found = {"answer": 0, "errors": 0, "words": 0, "descriptors": 0, "started": False}
deadline = time.monotonic() + 1
waiting = [ours, near, read]
while time.monotonic() < deadline:
    for ready in select.select(waiting, [], [], 0.1)[0]:
        if ready is ours:
            _, rights, _, _ = ours.recvmsg(64, 1024)
            found["words"] += 1
            for _, _, data in rights:
                fds = array.array("i", data[: len(data) // 4 * 4])
                found["descriptors"] += len(fds)
                for fd in fds:
                    os.close(fd)
        else:
            piece = near.recv(1 << 20) if ready is near else os.read(read, 1 << 16)
            found["answer" if ready is near else "errors"] += len(piece)
            found["started"] = found["started"] or piece.startswith(b"HTTP/1.1 204")
            if not piece:
                waiting.remove(ready)
os.killpg(agent.pid, signal.SIGKILL)
print(json.dumps(found))
