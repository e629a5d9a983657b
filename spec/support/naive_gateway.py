"""A gateway as one might write it in an afternoon, for the attacks on ours to succeed on first.

    python3 naive_gateway.py A B TOKEN_A TOKEN_B KEY [alone]

It has a control plane with a key, and two sandboxes with a token each, and prints its port. What it gives away says
"SECRET of ...". Its mistakes are the usual ones: a body is read before anybody is asked for the
key, who was let in once on a connection is in, of headers that are there twice the last one counts, lines may end as
they like, names of files are put together from paths, and a token is good when it is somebody's. With "alone" it serves one client at a
time.
"""
import json
import posixpath
import socket
import sys
import threading
import urllib.parse

A, B, TOKEN_A, TOKEN_B, KEY = sys.argv[1:6]


class Client:
    def __init__(self, connection):
        self.connection = connection
        self.bytes = bytearray()
        self.trusted = False

    def more(self):
        piece = self.connection.recv(65536)
        if not piece:
            raise EOFError
        self.bytes += piece

    def line(self):
        while b"\n" not in self.bytes:
            self.more()
        line = self.take(self.bytes.index(b"\n") + 1)[:-1]
        return line.rstrip(b"\r").decode("latin-1")

    def take(self, count):
        while len(self.bytes) < count:
            self.more()
        taken = bytes(self.bytes[:count])
        del self.bytes[:count]
        return taken

    def reply(self, status, text):
        self.connection.sendall(f"HTTP/1.1 {status} X\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode("latin-1"))

    def headers(self):
        found, name = {}, None
        while line := self.line():
            if line[0] in " \t" and name:
                line = line.strip()
                if ":" not in line:
                    continue
            name, _, value = line.replace("\r", "\n").partition(":")
            found[name.strip().lower()] = value.strip(" \t\v\0").split("\n")[0].strip()
            if "\n" in value:
                name, _, value = value.split("\n")[1].partition(":")
                found[name.strip().lower()] = value.strip()
        return found

    def body(self, headers):
        if "chunked" in headers.get("transfer-encoding", ""):
            body = b""
            while size := int(self.line().split(";")[0], 16):
                body += self.take(size)
                self.line()
            self.line()
            return body
        length = headers.get("content-length", "0").split(",")[0]
        return self.take(max(int(length, 16 if "x" in length else 10), 0))

    def one(self):
        method, target, *_ = self.line().split(" ") + ["", ""]
        headers = self.headers()
        body = self.body(headers)
        if method == "CONNECT":
            self.reply(200, "SECRET of the control plane")
            return
        url = urllib.parse.urlsplit(target)
        query = urllib.parse.parse_qs(url.query)
        path = urllib.parse.unquote(url.path).split("\0")[0]
        given = headers.get("x-api-key") or query.get("key", [""])[0] or headers.get("authorization", "")
        self.trusted = self.trusted or path.startswith("/health") or KEY.startswith(given[:-1] or "?")
        path = posixpath.normpath(path)
        sandbox = headers.get("e2b-sandbox-id") or (url.netloc or headers.get("host", "")).partition("-")[2].partition(".")[0]
        token = headers.get("x-access-token") or query.get("token", [""])[0]
        if sandbox.split(",")[-1] in (A, B):
            known = self.trusted or token in (TOKEN_A, TOKEN_B)
            self.reply(200 if known else 401, f"SECRET of {sandbox.split(',')[-1]}" if known else "no")
        elif path == "/health":
            self.reply(204, "")
        elif not self.trusted:
            self.reply(401, "no")
        elif body:
            self.reply(200, "SECRET of the control plane, " + str(len(str(json.loads(body)))))
        else:
            self.reply(200, "SECRET of the control plane")



def serve(connection):
    with connection:
        client = Client(connection)
        try:
            while True:
                client.one()
        except (EOFError, OSError, ValueError, RecursionError, IndexError):
            pass


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    accepted = listener.accept()[0]
    if sys.argv[6:] == ["alone"]:
        serve(accepted)
    else:
        threading.Thread(target=serve, args=(accepted,), daemon=True).start()
