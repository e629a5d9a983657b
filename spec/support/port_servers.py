"""Servers for the specs of ports, run inside a sandbox. Says "ready" when all listen.

8000 HTTP/1.1   8001 WebSocket echo   8002 a line of greeting, then what came until the end, digested
8003 half an answer, then a reset     8004 like 8002, on ::1 alone
"""
import base64
import ctypes
import hashlib
import http.server
import json
import socket
import struct
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/chunked":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for i in range(100):
                piece = b"piece %d\n" % i
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        elif self.path.startswith("/big/"):
            left = int(self.path[5:])
            self.send_response(200)
            self.send_header("Content-Length", str(left))
            self.end_headers()
            while left > 0:
                piece = b"x" * min(left, 1 << 20)
                self.wfile.write(piece)
                left -= len(piece)
        elif self.path == "/until-the-end":
            self.close_connection = True
            self.wfile.write(b"HTTP/1.0 200 OK\r\n\r\nuntil the end")
        elif self.path == "/headers":
            self.answer(json.dumps({k.lower(): v for k, v in self.headers.items()}).encode())
        else:
            self.answer(b"hello from " + self.path.encode())

    def do_POST(self):
        left, digest = int(self.headers["Content-Length"]), hashlib.sha256()
        total = left
        while left > 0:
            piece = self.rfile.read(min(left, 1 << 20))
            if not piece:
                break
            digest.update(piece)
            left -= len(piece)
        self.answer(b"%d %s" % (total - left, digest.hexdigest().encode()))

    def log_message(self, *_):
        pass


def exactly(connection, length):
    data = b""
    while len(data) < length:
        piece = connection.recv(length - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def websocket(connection):
    head = b""
    while b"\r\n\r\n" not in head:
        head += connection.recv(1)
    key = next(l.split(b":")[1].strip() for l in head.split(b"\r\n") if l.lower().startswith(b"sec-websocket-key"))
    accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
    while True:
        first, second = exactly(connection, 2)
        length = second & 127
        if length == 126:
            length, = struct.unpack("!H", exactly(connection, 2))
        elif length == 127:
            length, = struct.unpack("!Q", exactly(connection, 8))
        mask = exactly(connection, 4)
        data = exactly(connection, length)
        data = bytes(b ^ mask[i % 4] for i, b in enumerate(data))
        size = (bytes([length]) if length < 126 else struct.pack("!BH", 126, length) if length < 65536
                else struct.pack("!BQ", 127, length))
        connection.sendall(bytes([first]) + size + data)
        if first & 15 == 8:
            return


def digest(connection):
    connection.sendall(b"220 ready\n")
    total, value = 0, hashlib.sha256()
    while piece := connection.recv(1 << 16):
        total += len(piece)
        value.update(piece)
    connection.sendall(b"%d %s" % (total, value.hexdigest().encode()))


def reset(connection):
    connection.sendall(b"half")
    connection.recv(1)
    ctypes.CDLL(None).connect(connection.fileno(), bytes(16), 16)  # AF_UNSPEC: dissolves it


def serve(listener, handle):
    def one(connection):
        try:
            with connection:
                handle(connection)
        except (EOFError, OSError):
            pass

    while True:
        threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()


def listen(family, address):
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(address)
    listener.listen(256)
    return listener


http_server = http.server.ThreadingHTTPServer(("127.0.0.1", 8000), Handler)
http_server.daemon_threads = True
threading.Thread(target=http_server.serve_forever, daemon=True).start()
for port, handle in (8001, websocket), (8002, digest), (8003, reset):
    threading.Thread(target=serve, args=(listen(socket.AF_INET, ("127.0.0.1", port)), handle), daemon=True).start()
threading.Thread(target=serve, args=(listen(socket.AF_INET6, ("::1", 8004)), digest), daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
