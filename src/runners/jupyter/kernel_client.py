"""Messages to and from a kernel: Jupyter's protocol, version 5, over ZeroMQ."""

import datetime
import hashlib
import hmac
import json
import uuid

import zmq

_DELIMITER = b"<IDS|MSG>"
MAX_BYTES = 64 << 20  # of one part of a message
WAITING = 1000  # messages that a socket holds; the kernel waits then, or drops output


class KernelClient:
    def __init__(self, process):
        self._key = process.key.encode()
        self._session = uuid.uuid4().hex
        self._context = zmq.Context()
        self.iopub = self._connect(zmq.SUB, process.endpoint("iopub"))
        self.iopub.setsockopt(zmq.SUBSCRIBE, b"")
        self.shell = self._connect(zmq.DEALER, process.endpoint("shell"))
        self.control = self._connect(zmq.DEALER, process.endpoint("control"))
        self.stdin = self._connect(zmq.DEALER, process.endpoint("stdin"))

    def _connect(self, kind, endpoint):
        socket = self._context.socket(kind)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.MAXMSGSIZE, MAX_BYTES)
        socket.setsockopt(zmq.RCVHWM, WAITING)
        if kind == zmq.DEALER:
            # Kernels answer input requests on the identity that the request came from.
            socket.setsockopt(zmq.IDENTITY, self._session.encode())
        socket.connect(endpoint)
        return socket

    def close(self):
        self._context.destroy(linger=0)

    def _sign(self, parts):
        digest = hmac.new(self._key, digestmod=hashlib.sha256)
        for part in parts:
            digest.update(part)
        return digest.hexdigest().encode()

    def send(self, socket, kind, content, parent=None):
        """Returns the identifier of the message, which its answers have as their parent's."""
        header = {
            "msg_id": uuid.uuid4().hex,
            "msg_type": kind,
            "session": self._session,
            "username": "user",
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(),
            "version": "5.3",
        }
        parts = [json.dumps(part).encode() for part in (header, parent or {}, {}, content)]
        socket.send_multipart([_DELIMITER, self._sign(parts)] + parts)
        return header["msg_id"]

    def receive(self, socket):
        """The next message that has come; None when there is none. One that is not signed, or no
        message, is a Message of no kind."""
        try:
            parts = socket.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return None
        try:
            begin = parts.index(_DELIMITER) + 1
            signature, *parts = parts[begin : begin + 5]
            if not hmac.compare_digest(signature, self._sign(parts)):
                return Message("", None, {}, {})
            header, parent, _, content = (json.loads(part) for part in parts)
            return Message(header["msg_type"], parent.get("msg_id"), content, header)
        except (ValueError, KeyError, AttributeError, TypeError):
            return Message("", None, {}, {})


class Message:
    def __init__(self, kind, parent, content, header):
        self.kind = kind
        self.parent = parent
        self.content = content if isinstance(content, dict) else {}
        self.header = header
