"""A git server for specs, inside the sandbox: HTTP with Basic authentication before `git http-backend`.

    python3 git_server.py ROOT SHA256

ROOT holds the repositories, SHA256 is the hash of "user:password" (so that the server itself does not know
it). Listens on two ports and prints both. The first one's /moved/... leads to the second. Each request is a
line of ROOT/log: the port's index and whether it came with credentials.
"""

import base64
import hashlib
import http.server
import os
import subprocess
import sys
import threading

root, wanted = sys.argv[1:]
log = open(os.path.join(root, "log"), "a", buffering=1)
servers = []


def is_right(header):
    given = base64.b64decode((header or "").removeprefix("Basic "))
    return hashlib.sha256(given).hexdigest() == wanted


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline(), 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def answer(self, status, headers, content=b""):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def serve(self):
        body = self.body()
        header = self.headers.get("Authorization")
        index = servers.index(self.server)
        print(index, "with" if header else "without", file=log)
        if not is_right(header):
            # As some servers do, this one repeats what it was sent.
            text = f"refused {header}\n".encode()
            return self.answer(401, [("WWW-Authenticate", 'Basic realm="git"'), ("Content-Type", "text/plain")], text)
        if self.path.startswith("/moved/"):
            port = servers[1].server_port
            return self.answer(302, [("Location", f"http://127.0.0.1:{port}{self.path[6:]}")])
        path, _, query = self.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": root,
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_USER": "someone",
            "REMOTE_ADDR": "127.0.0.1",
        }
        run = subprocess.run(["git", "http-backend"], input=body, stdout=subprocess.PIPE, env=environment)
        head, _, content = run.stdout.partition(b"\r\n\r\n")
        headers = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, value in headers if name == "Status"), 200)
        self.answer(status, [pair for pair in headers if pair[0] != "Status"], content)

    do_GET = do_POST = serve


for _ in range(2):
    servers.append(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler))
for server in servers:
    threading.Thread(target=server.serve_forever).start()
print(*(server.server_port for server in servers), flush=True)
