"""A server that misbehaves, for the specs of the client: python3 server.py PORT_FILE [CERT KEY].

It plays control plane and sandbox at once. POST /v2/sandboxes answers with a sandbox whose id is the
template asked for; POST /execute then behaves as that id says. Contexts: of "echo" they are made, and what is
executed prints the body of the request, or for the code "what came" that of the last context; of "nolanguage" none
can be made.
"""

import json
import re
import socket
import ssl
import sys
import threading
import time

EVENTS = (
    '{"type": "number_of_executions", "execution_count": 7}\n'
    '{"type": "stdout", "text": "h\\u00e9llo\\n", "timestamp": "2026-01-02T03:04:05.500000+00:00"}\n'
    '{"type": "result", "text": "42", "extra": {}, "is_main_result": true}\n'
)
LATEST = {}
REFUSAL = 'Failed to create context: {"message": "install r-base-core", "short_message": "x"}'
END = '{"type": "end_of_execution"}\n'


def reply(status, body, kind="application/json"):
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
    return (head + (f"Content-Type: {kind}\r\n" if kind else "") + "\r\n").encode() + body.encode()


def chunked(body):
    data = body.encode()
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + (
        b"%x\r\n%s\r\n" % (len(data), data)
    )


def print_body(body):
    shown = LATEST["context"] if body["code"] == "what came" else body
    event = {"type": "stdout", "text": json.dumps(shown, sort_keys=True), "timestamp": "2026-01-02T03:04:05Z"}
    return json.dumps(event) + "\n"


def contexts(connection, method, how, body):
    if how == "nolanguage":
        connection.sendall(reply("500 Internal Server Error", REFUSAL, "text/plain"))
        return
    made = {"id": "c1", "language": "bash", "cwd": "/x y"}
    if method == "POST":
        LATEST["context"] = json.loads(body)
    answers = {"POST": made, "GET": [made], "DELETE": None}
    connection.sendall(reply("200 OK", json.dumps(answers[method])))


def execute(connection, how, body):
    send = connection.sendall
    if how == "echo":
        send(chunked(print_body(json.loads(body)) + END) + b"0\r\n\r\n")
    if how == "nolanguage":
        send(reply("500 Internal Server Error", REFUSAL, "text/plain"))
    if how == "good":
        send(chunked(EVENTS + END) + b"0\r\n\r\n")
    elif how == "slowbytes":
        for byte in chunked(EVENTS + END) + b"0\r\n\r\n":
            send(bytes([byte]))
            time.sleep(0.0005)
    elif how == "html":
        send(reply("200 OK", "<html><body>Welcome to nginx</body></html>", "text/html"))
    elif how == "htmlerror":
        send(reply("502 Bad Gateway", "<html>bad gateway</html>", "text/html"))
    elif how == "cut":
        send(chunked(EVENTS))  # no last chunk: the connection just ends
    elif how == "noend":
        send(chunked(EVENTS) + b"0\r\n\r\n")
    elif how == "halfline":
        send(chunked(EVENTS + '{"type": "std') + b"0\r\n\r\n")
    elif how == "garbage":
        send(chunked(EVENTS + "{]garbage\n" + END) + b"0\r\n\r\n")
    elif how == "empty500":
        send(reply("500 Internal Server Error", "", None))
    elif how == "limited":
        send(reply("429 Too Many Requests", '{"code": 429, "message": "slow down"}'))
    elif how == "lost":
        lost = '{"type": "error", "name": "ContextRestarting", "value": "Context was restarted", "traceback": ""}\n'
        send(chunked(EVENTS + lost + END) + b"0\r\n\r\n")
    elif how == "unknownevent":
        send(chunked('{"type": "keepalive"}\n{"type": "novelty", "a": 1}\n' + EVENTS + END) + b"0\r\n\r\n")
    elif how == "notjson":
        send(b"SSH-2.0-OpenSSH_9.2\r\n")
    elif how == "silent":
        time.sleep(20)


def serve(connection):
    try:
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                return
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        while length and len(body) < int(length.group(1)):
            body += connection.recv(65536)
        line = head.split(b"\r\n")[0].decode()
        sandbox = re.search(rb"(?i)e2b-sandbox-id: (\w+)", head)
        if line.startswith("POST /v2/sandboxes "):
            key = re.search(rb"(?i)x-api-key: (\S+)", head)
            if key and key.group(1) == b"wrong":
                connection.sendall(reply("401 Unauthorized", '{"code": 401, "message": "invalid API key"}'))
                return
            made = {"sandboxID": json.loads(body)["templateID"], "templateID": "t", "clientID": "c",
                    "envdVersion": "0.2.0"}
            connection.sendall(reply("201 Created", json.dumps(made)))
        elif line.startswith("POST /execute"):
            execute(connection, sandbox.group(1).decode() if sandbox else "", body)
        elif re.match(r"(GET|POST) /contexts |DELETE /contexts/c1 ", line):
            contexts(connection, line.split()[0], sandbox.group(1).decode() if sandbox else "", body)
        elif line.startswith("DELETE /sandboxes/"):
            connection.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        else:
            connection.sendall(reply("404 Not Found", '{"code": 404, "message": "no such thing"}'))
    except OSError:
        pass
    finally:
        try:
            if isinstance(connection, ssl.SSLSocket):
                connection.unwrap()
        except OSError:
            pass
        connection.close()


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    if len(sys.argv) > 3:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
        listener = context.wrap_socket(listener, server_side=True)
    with open(sys.argv[1], "w") as file:
        file.write(f"{listener.getsockname()[1]}\n")
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            continue
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


main()
