"""Clients for the specs of ports: port_client.py WHERE WHAT [ARGUMENT...]

WHERE is a port of 127.0.0.1 or the path of a unix socket. Prints one line that says how it went.
  ws [HEADER...]       a WebSocket's greeting, echoes of three sizes, and its close
  digest LENGTH        the greeting, LENGTH bytes, the half-close, and the server's digest of them
  parallel COUNT       COUNT connections open at the same time, each used
  end [WORD]           reads the greeting (sends WORD), says "up", and then how the connection ends
  held REQUEST         the same after a request, without a word
  raw REQUEST          sends the request, and prints all that comes
  tunnel REQUEST       asks for a tunnel, and then does `digest 1000` in it
"""
import base64
import hashlib
import os
import socket
import struct
import sys

where, what, *rest = sys.argv[1:]


def connect():
    if where.isdigit():
        return socket.create_connection(("127.0.0.1", int(where)), timeout=20)
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(20)
    connection.connect(where)
    return connection


def line_of(connection):
    line = b""
    while not line.endswith(b"\n"):
        piece = connection.recv(1)
        if not piece:
            raise EOFError(line)
        line += piece
    return line


def all_of(connection):
    data = b""
    while piece := connection.recv(1 << 16):
        data += piece
    return data


def how_it_ends(connection):
    try:
        return f"closed after {all_of(connection)!r}"
    except ConnectionResetError:
        return "reset"


def frame(opcode, data):
    length = len(data)
    size = (bytes([128 | length]) if length < 126 else struct.pack("!BH", 128 | 126, length) if length < 65536
            else struct.pack("!BQ", 128 | 127, length))
    mask = os.urandom(4)
    return bytes([128 | opcode]) + size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data))


def websocket(headers):
    connection = connect()
    key = base64.b64encode(os.urandom(16))
    named = any(h.lower().startswith("host:") for h in headers)
    lines = ["GET /chat HTTP/1.1"] + ([] if named else ["Host: localhost"]) + headers
    connection.sendall("\r\n".join(lines).encode() + b"\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
                       b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key + b"\r\n\r\n")
    stream = connection.makefile("rb")
    status = stream.readline()
    if not status.startswith(b"HTTP/1.1 101 "):
        return f"no upgrade: {status!r}"
    while stream.readline() != b"\r\n":
        pass
    for opcode, data in (1, b"hello"), (2, os.urandom(1000)), (2, os.urandom(200000)), (8, b""):
        connection.sendall(frame(opcode, data))
        first, second = stream.read(2)
        length = second
        if length == 126:
            length, = struct.unpack("!H", stream.read(2))
        elif length == 127:
            length, = struct.unpack("!Q", stream.read(8))
        if first != 128 | opcode or stream.read(length) != data:
            return "a wrong echo"
    return "ok" if stream.read() == b"" else "more than there should be"


def digest_on(connection, length):
    greeting = line_of(connection)
    data = os.urandom(1 << 16) * (length // (1 << 16) + 1)
    connection.sendall(data[:length])
    connection.shutdown(socket.SHUT_WR)
    expected = b"%d %s" % (length, hashlib.sha256(data[:length]).hexdigest().encode())
    got = all_of(connection)
    return "ok" if greeting == b"220 ready\n" and got == expected else f"wrong: {greeting!r} {got!r}"


def parallel(count):
    connections = [connect() for _ in range(count)]
    greetings = [line_of(c) for c in connections]
    for i, connection in enumerate(connections):
        connection.sendall(b"%d" % i)
        connection.shutdown(socket.SHUT_WR)
    good = 0
    for i, connection in enumerate(connections):
        text = b"%d" % i
        good += all_of(connection) == b"%d %s" % (len(text), hashlib.sha256(text).hexdigest().encode())
    return f"{good} of {len(greetings)}"


def end(word):
    connection = connect()
    if word:
        print(connection.recv(100).decode(), flush=True)
        connection.sendall(word[0].encode())
    else:
        line_of(connection)
    print("up", flush=True)
    return how_it_ends(connection)


def held(request):
    connection = connect()
    connection.sendall(escaped(request))
    line_of(connection)
    print("up", flush=True)
    return how_it_ends(connection)


def escaped(request):
    return request.encode().decode("unicode_escape").encode("latin-1")


def raw(request):
    connection = connect()
    connection.sendall(escaped(request))
    return all_of(connection).decode("latin-1")


def tunnel(request):
    connection = connect()
    connection.sendall(escaped(request))
    status = line_of(connection).decode().strip()
    if not status.startswith("HTTP/1.1 200 "):
        return status + "\n" + all_of(connection).decode()
    while line_of(connection) != b"\r\n":
        pass
    return status + " " + digest_on(connection, 1000)


try:
    if what == "ws":
        print(websocket(rest))
    elif what == "digest":
        print(digest_on(connect(), int(rest[0])))
    elif what == "parallel":
        print(parallel(int(rest[0])))
    elif what == "end":
        print(end(rest))
    elif what == "held":
        print(held(rest[0]))
    elif what == "raw":
        print(raw(rest[0]))
    elif what == "tunnel":
        print(tunnel(rest[0]))
except (OSError, EOFError) as failure:
    print(type(failure).__name__)
