"""The servers of the tests' network. `world`: on every address there, HTTP on 80 and TLS's port 443 (which tells the
server name of a ClientHello, unencrypted) and 8080 (which tells its own address), and datagrams to 5353, which are
noted; DNS on 198.51.100.53; SOCKS5 on 203.0.113.1:1080. `host`: the same but DNS and SOCKS5 on all addresses of the
host, loopback among them."""
import socket
import socketserver
import struct
import sys
import threading

ROLE, DIRECTORY = sys.argv[1], sys.argv[2]

NAMES = {
    "public.example": ["198.51.100.7"],
    "other.example": ["198.51.100.8"],
    "sub.allowed.example": ["198.51.100.7"],
    "allowed.example": ["198.51.100.7"],
    "private.example": ["10.9.9.9"],
    "private.allowed.example": ["10.9.9.9"],
    "metadata.allowed.example": ["169.254.169.254"],
    "loopback.allowed.example": ["127.0.0.1"],
    "host.allowed.example": ["203.0.113.2"],
    "mixed.allowed.example": ["10.9.9.9", "198.51.100.7"],
}
ALIASES = {"alias.allowed.example": "private.example", "alias.example": "metadata.allowed.example"}
turns = {"rebound.allowed.example": 0}


def log(name, text):
    with open(f"{DIRECTORY}/{name}.log", "a") as file:
        file.write(text + "\n")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    address_family = socket.AF_INET6

    def server_bind(self):
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()


def own_address(connection):
    return connection.getsockname()[0].replace("::ffff:", "")


class Banner(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(f"{ROLE} {own_address(self.request)}\n".encode())
        while data := self.request.recv(4096):
            self.request.sendall(data)


class Web(socketserver.StreamRequestHandler):
    def handle(self):
        host = ""
        while (line := self.rfile.readline().strip()):
            if line.lower().startswith(b"host:"):
                host = line[5:].strip().decode()
        body = f"{ROLE} {own_address(self.request)} {host}\n".encode()
        self.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


class Hello(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.recv(16384)
        self.request.sendall(f"{ROLE} {own_address(self.request)}\n".encode())


def wire(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def answer(query):
    at, labels = 12, []
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1"))
        at += 1 + query[at]
    kind, = struct.unpack(">H", query[at + 1:at + 3])
    name = ".".join(labels).lower()
    log("dns", name)
    alias = ALIASES.get(name)
    addresses = NAMES.get(alias or name, [])
    if name in turns and kind == 1:
        turns[name] += 1
        addresses = ["198.51.100.7"] if turns[name] % 2 else ["169.254.169.254"]
    records = [socket.inet_aton(a) for a in addresses] if kind == 1 else []
    head = query[:2] + struct.pack(">HHHHH", 0x8180 if addresses else 0x8183, 1, len(records) + bool(alias), 0, 0)
    body, owner = query[12:at + 5], b"\xc0\x0c"
    if alias:
        owner = wire(alias)
        body += struct.pack(">HHHIH", 0xC00C, 5, 1, 1, len(owner)) + owner
    for record in records:
        body += owner + struct.pack(">HHIH", 1, 1, 1, 4) + record
    return head + body


def serve_dns():
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("198.51.100.53", 53))
    while True:
        query, client = udp.recvfrom(4096)
        udp.sendto(answer(query), client)


def note_datagrams():
    udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    udp.bind(("::", 5353))
    while True:
        word, sender = udp.recvfrom(4096)
        log("udp", f"{word.decode('latin-1')} from {sender[0].replace('::ffff:', '')}")


class DnsOverTcp(socketserver.StreamRequestHandler):
    def handle(self):
        while len(head := self.rfile.read(2)) == 2:
            text = answer(self.rfile.read(struct.unpack(">H", head)[0]))
            self.wfile.write(struct.pack(">H", len(text)) + text)


class Socks(socketserver.StreamRequestHandler):
    def handle(self):
        methods = self.rfile.read(self.rfile.read(2)[1])
        user = "-"
        if 2 in methods:
            self.wfile.write(b"\5\2")
            length = self.rfile.read(2)[1]
            user = self.rfile.read(length).decode()
            password = self.rfile.read(self.rfile.read(1)[0]).decode()
            self.wfile.write(b"\1" + (b"\0" if password == "secret" else b"\1"))
            if password != "secret":
                return
        else:
            self.wfile.write(b"\5\0")
        kind = self.rfile.read(4)[3]
        if kind == 3:
            host = self.rfile.read(self.rfile.read(1)[0]).decode()
        else:
            family, size = (socket.AF_INET, 4) if kind == 1 else (socket.AF_INET6, 16)
            host = socket.inet_ntop(family, self.rfile.read(size))
        port, = struct.unpack(">H", self.rfile.read(2))
        log("socks", f"{user} {host} {port}")
        try:
            far = socket.create_connection((NAMES.get(host, [host])[0], port), 5)
        except OSError:
            self.wfile.write(b"\5\5\0\1" + bytes(6))
            return
        self.wfile.write(b"\5\0\0\1" + bytes(6))
        threading.Thread(target=pass_on, args=(far, self.request), daemon=True).start()
        pass_on(self.request, far)


def pass_on(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(address, port, handler):
    server = Server((address, port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()


serve("::", 80, Web)
serve("::", 443, Hello)
serve("::", 8080, Banner)
threading.Thread(target=note_datagrams, daemon=True).start()
if ROLE == "world":
    serve("::ffff:203.0.113.1", 1080, Socks)
    serve("::ffff:198.51.100.53", 53, DnsOverTcp)
    threading.Thread(target=serve_dns, daemon=True).start()
open(f"{DIRECTORY}/{ROLE}.ready", "w").close()
threading.Event().wait()
