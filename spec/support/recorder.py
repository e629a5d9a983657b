"""Plays E2B's service for one sandbox and writes down what it was asked: python3 recorder.py PORT_FILE RECORD_FILE

Each request is a line of JSON: method, path, key, body. Code that asks for "gone" is cut off, and the sandbox is not
there any more then.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

record = open(sys.argv[2], "a", encoding="utf-8")
state = {"gone": False}

EVENTS = [
    {"type": "stdout", "text": "printed\n", "timestamp": "2026-01-02T03:04:05+00:00"},
    {"type": "result", "text": "42", "is_main_result": True, "extra": {}},
]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, value=None):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        if body:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def execute(self, body):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        state["gone"] = state["gone"] or "gone" in body["code"]
        end = [] if state["gone"] else [{"type": "end_of_execution"}]
        for event in EVENTS + end:
            data = json.dumps(event).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        if state["gone"]:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def handle_any(self):
        length = int(self.headers.get("Content-Length") or 0)
        text = self.rfile.read(length).decode()
        body = json.loads(text) if text else None
        line = {"method": self.command, "path": self.path, "key": self.headers.get("X-API-Key"), "body": body}
        record.write(json.dumps(line) + "\n")
        record.flush()
        made = {"sandboxID": "irecorded", "templateID": "t", "clientID": "c", "envdVersion": "0.2.0",
                "envdAccessToken": "token"}
        if state["gone"]:
            self.answer(502 if self.headers.get("E2b-Sandbox-Id") else 404, {"code": 404, "message": "not found"})
        elif self.path.startswith("/v2/sandboxes") and self.command == "POST":
            self.answer(200 if self.path.endswith("/connect") else 201, made)
        elif self.path == "/execute":
            self.execute(body)
        else:
            self.answer(204)

    do_GET = do_POST = do_DELETE = do_PUT = handle_any


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write(f"{server.server_address[1]}\n")
server.serve_forever()
