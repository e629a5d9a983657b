"""The official Python SDK, timed: says its version, then answers each line "COUNT REQUEST [BYTES]" with the
seconds that one took. Requests: command, upload, download. It works in the sandbox that SANDBOX_ID names."""

import importlib.metadata
import os
import sys
import time

from e2b import Sandbox

PIECE = 1_000_000
LARGE = 16_000_000  # from here on in pieces, so that memory is not what is measured

box = Sandbox.connect(os.environ["SANDBOX_ID"])
path = "transferred"


def pieces(bytes_left):
    piece = b"x" * PIECE
    while bytes_left > 0:
        yield piece[:bytes_left]
        bytes_left -= PIECE


def command():
    box.commands.run("true")


def upload(size):
    box.files.write(path, b"x" * size if size < LARGE else pieces(size))


def download(size):
    if size < LARGE:
        count = len(box.files.read(path, format="bytes"))
    else:
        with box.files.read(path, format="stream") as stream:
            count = sum(len(piece) for piece in stream)
    if count != size:
        raise ValueError(f"{count} bytes instead of {size}")


requests = {"command": command, "upload": upload, "download": download}

print(importlib.metadata.version("e2b"), flush=True)
for line in sys.stdin:
    count, request, *size = line.split()
    try:
        start = time.monotonic()
        for _ in range(int(count)):
            requests[request](*map(int, size))
        print((time.monotonic() - start) / int(count), flush=True)
    except Exception as error:
        print(str(error).replace("\n", " "), flush=True)
