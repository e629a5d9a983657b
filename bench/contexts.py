"""New contexts of one sandbox: prints figures as lines "NAME NUMBER".

    python3 contexts.py SOCKET

There is no client in between but Python's own http.client on the engine's socket.
"""

import http.client
import json
import socket
import statistics
import sys
import threading
import time

PRIVATE = """
print(sum(int(line.split()[1]) for line in open("/proc/self/smaps_rollup") if line.startswith("Private")))"""
PSS = """
print(sum(int(line.split()[1]) for line in open("/proc/self/smaps_rollup") if line.startswith("Pss:")))"""


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(sys.argv[1])


class Sandbox:
    def __init__(self):
        made = self._request("x", "POST", "/v2/sandboxes", {"templateID": "base", "timeout": 600}, {})
        self._token = {"X-Access-Token": made["envdAccessToken"]}
        self.id = made["sandboxID"]
        self._host = "49999-%s.stepbox" % self.id

    @staticmethod
    def _request(host, method, path, body, headers):
        connection = Connection(host)
        connection.request(method, path, json.dumps(body), {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        assert answer.status < 300, text
        if path == "/execute":
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        return json.loads(text) if text else None

    def context(self):
        return self._request(self._host, "POST", "/contexts", {}, self._token)["id"]

    def run(self, context, code):
        body = {"context_id": context, "code": code}
        events = self._request(self._host, "POST", "/execute", body, self._token)
        assert not any(event["type"] == "error" for event in events), events
        return "".join(event["text"] for event in events if event["type"] == "stdout")

    def kill(self):
        self._request("x", "DELETE", "/sandboxes/" + self.id, None, {})


def took(function):
    start = time.monotonic()
    function()
    return time.monotonic() - start


def at_once(functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    sandbox = Sandbox()
    contexts = []

    def make():
        context = sandbox.context()
        assert sandbox.run(context, "print(1 + 1)") == "2\n"
        contexts.append(context)

    make()
    time.sleep(2)
    single = []
    for _ in range(20):
        single.append(took(make))
        time.sleep(0.1)
    print("one", statistics.median(single))
    before = len(contexts)
    print("fifty", took(lambda: at_once([make] * 50)))
    fifty = contexts[before:]
    assert len(fifty) == 50

    def steps(context):
        for _ in range(20):
            sandbox.run(context, "x = 1")

    print("steps", took(lambda: at_once([lambda c=c: steps(c) for c in fifty])))
    print("private", int(sandbox.run(fifty[0], PRIVATE)) * 1024)
    print("pss", int(sandbox.run(fifty[0], PSS)) * 1024)
    sandbox.kill()


main()
