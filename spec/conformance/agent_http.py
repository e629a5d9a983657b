"""Just enough HTTP/1.1 to see what really comes: raw heads, chunks, and clients that hang up."""

import json
import socket
import time


class Reply:
    def __init__(self, status, headers, body, ended):
        self.status = status
        self.headers = headers
        self.body = body
        self.ended = ended  # "eof" when the answer was whole, "cut" or "client aborted"
        self.seconds = 0.0


class _Reader:
    def __init__(self, connection, deadline, begun):
        self.connection = connection
        self.deadline = deadline
        self.begun = begun
        self.buffer = b""

    def more(self):
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise socket.timeout
        self.connection.settimeout(left)
        chunk = self.connection.recv(1 << 20)
        self.buffer += chunk
        return bool(chunk)

    def line(self):
        while b"\r\n" not in self.buffer:
            if not self.more():
                raise EOFError
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line

    def exactly(self, size):
        parts, have = [], 0
        while have < size:
            if not self.buffer and not self.more():
                raise EOFError
            part, self.buffer = self.buffer[: size - have], self.buffer[size - have :]
            parts.append(part)
            have += len(part)
        return b"".join(parts)


def _chunks(reader, parts):
    while True:
        size = int(reader.line().split(b";")[0], 16)
        if size == 0:
            while reader.line():
                pass
            return
        parts.append(reader.exactly(size))
        reader.begun()
        if reader.exactly(2) != b"\r\n":
            raise ValueError("a chunk does not end where it says")


def _body(reader, method, status, headers, parts):
    if method == "HEAD" or status in (204, 304):
        return
    if headers.get("transfer-encoding", "").lower() == "chunked":
        _chunks(reader, parts)
    elif "content-length" in headers:
        parts.append(reader.exactly(int(headers["content-length"])))
    else:
        while reader.more():
            pass
        parts.append(reader.buffer)


class Agent:
    """The code interpreter's port, reached directly or through a gateway by extra headers."""

    def __init__(self, host, port, headers=None):
        self.address = host, port
        self.headers = headers or {}

    def request(
        self,
        method,
        path,
        body=None,
        headers=None,
        hang_up_after=None,
        timeout=90,
        begun=lambda: None,
    ):
        """One exchange on a connection of its own; `body` is bytes or None.

        `begun` is called when the first piece of a streamed answer is there.
        """
        begin = time.monotonic()
        fields = {"Host": "%s:%d" % self.address, "Connection": "close"}
        fields.update(self.headers)
        fields.update(headers or {})
        if body is not None:
            fields["Content-Length"] = str(len(body))
        head = "%s %s HTTP/1.1\r\n" % (method, path)
        head += "".join("%s: %s\r\n" % field for field in fields.items()) + "\r\n"
        connection = socket.create_connection(self.address, timeout=10)
        try:
            connection.sendall(head.encode("latin-1") + (body or b""))
            limit = timeout if hang_up_after is None else hang_up_after
            reply = self._receive(_Reader(connection, begin + limit, begun), method)
        finally:
            connection.close()
        if reply.ended == "timeout":
            if hang_up_after is None:
                raise AssertionError("%s %s: no whole answer in %d s" % (method, path, timeout))
            reply.ended = "client aborted"
        reply.seconds = time.monotonic() - begin
        return reply

    @staticmethod
    def _receive(reader, method):
        status, headers, parts = 0, {}, []
        try:
            status = int(reader.line().split()[1])
            while True:
                line = reader.line()
                if not line:
                    break
                name, _, value = line.decode("latin-1").partition(":")
                headers[name.strip().lower()] = value.strip()
            _body(reader, method, status, headers, parts)
            ended = "eof"
        except socket.timeout:
            ended = "timeout"
        except EOFError:
            ended = "cut"
        return Reply(status, headers, b"".join(parts), ended)

    def new_context(self, cwd=None):
        body = json.dumps({} if cwd is None else {"cwd": cwd}).encode()
        reply = self.request("POST", "/contexts", body, {"Content-Type": "application/json"})
        if reply.status != 200:
            raise AssertionError("POST /contexts: %d %r" % (reply.status, reply.body))
        return json.loads(reply.body)["id"]

    def delete_context(self, context):
        self.request("DELETE", "/contexts/" + context)
