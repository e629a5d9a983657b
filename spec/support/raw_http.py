"""Sends bytes as they are, each text on a connection of its own, all at the same time: what no proper client
would send.

    python3 raw_http.py FILE

FILE has {"address": PATH or [HOST, PORT], "requests": [TEXT, ...], "seconds": N, "enough": TEXT}; a character of a
text is a byte. A reply that has what is enough is not waited for any longer.
Prints a list of {"reply": TEXT, "open": whether the connection was still open after so many seconds}.
"""
import concurrent.futures
import json
import socket
import sys
import time

MOST = 1 << 20


def connect(address):
    if isinstance(address, str):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(address)
        return connection
    return socket.create_connection(address)


def talk(address, text, seconds, enough):
    reply, still_open = b"", False
    deadline = time.monotonic() + seconds
    with connect(address) as connection:
        try:
            connection.settimeout(seconds)
            connection.sendall(text.encode("latin-1"))
        except OSError:
            pass  # an answer may have come before all was sent
        try:
            while len(reply) < MOST and not (enough and enough in reply):
                connection.settimeout(max(deadline - time.monotonic(), 0.01))
                piece = connection.recv(65536)
                if not piece:
                    break
                reply += piece
        except socket.timeout:
            still_open = True
        except OSError:
            pass
    return {"reply": reply.decode("latin-1"), "open": still_open}


with open(sys.argv[1], encoding="latin-1") as file:
    order = json.load(file)
with concurrent.futures.ThreadPoolExecutor(max(len(order["requests"]), 1)) as pool:
    jobs = [pool.submit(talk, order["address"], text, order["seconds"], order["enough"].encode()) for text in order["requests"]]
    print(json.dumps([job.result() for job in jobs]))
