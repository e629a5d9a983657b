"""Many clients at once that are slow, or do nothing.

    python3 crowd.py ADDRESS COUNT SECONDS TEXT

Opens COUNT connections to HOST:PORT or a path, sends TEXT on each (Python's escapes count), then a byte a second of a
header, and reads nothing until SECONDS are over or the other side has ended. Prints "opened N" when all are open, and
at the end how many got which status, as "408 300" (0: none).
"""
import collections
import select
import socket
import sys
import time

address, count, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
text = sys.argv[4].encode().decode("unicode_escape").encode("latin-1")
statuses = collections.Counter()
crowd = []


def status_of(connection):
    connection.setblocking(False)
    try:
        reply = connection.recv(64)
    except OSError:
        reply = b""
    return int(reply[9:12]) if reply.startswith(b"HTTP/1.1 ") else 0


for _ in range(count):
    try:
        if address.startswith("/"):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(address)
        else:
            host, port = address.rsplit(":", 1)
            connection = socket.create_connection((host, int(port)), 5)
        connection.sendall(text)
        crowd.append(connection)
    except OSError:
        statuses[0] += 1
print("opened", len(crowd), flush=True)
deadline = time.monotonic() + seconds
while crowd and time.monotonic() < deadline:
    poll = select.poll()
    for connection in crowd:
        poll.register(connection, select.POLLRDHUP | select.POLLHUP)
    ended = {fd for fd, _ in poll.poll(1000)}
    for connection in crowd[:]:
        try:
            if connection.fileno() not in ended:
                connection.send(b"x")
                continue
        except OSError:
            pass
        statuses[status_of(connection)] += 1
        crowd.remove(connection)
for connection in crowd:
    statuses[status_of(connection)] += 1
for status, number in sorted(statuses.items()):
    print(status, number)
