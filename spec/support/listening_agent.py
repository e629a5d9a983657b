#!/usr/bin/python3
"""Stands in for bubblewrap and the agent: an agent that keeps every connection open, as a hostile one would, and
answers with all bytes that came on it within half a second."""
import array
import socket
import sys
import threading
import time


def serve(connection, from_engine):
    if from_engine:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
        return
    heard = b""
    deadline = time.monotonic() + 0.5
    connection.settimeout(0.05)
    while time.monotonic() < deadline:
        try:
            heard += connection.recv(65536)
        except socket.timeout:
            pass
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(heard), heard))
    time.sleep(0.5)


control = socket.socket(fileno=int(sys.argv[sys.argv.index("--control") + 1]))
while True:
    datagram, ancillary, _, _ = control.recvmsg(4, socket.CMSG_SPACE(4))
    if not datagram:
        break
    descriptor = array.array("i", ancillary[0][2])[0]
    threading.Thread(target=serve, args=(socket.socket(fileno=descriptor), datagram[1] & 1), daemon=True).start()
