"""Plays a recorded conversation of a language model by OpenAI's protocol: python3 chat_server.py PORT_FILE KEY

It checks what it is sent and answers 400 with what is wrong. The recording: the model sets a sandbox up, then calls
two tools at once, one of them wrongly, and then answers with what it was told.
"""

import glob
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

KEY = sys.argv[2]
NAMES = ["CodeExecutionBlock", "InstantiationBlock", "StepExecutionBlock"]
turns = []


def check(condition, what):
    if not condition:
        raise ValueError(what)


def call(number, name, arguments):
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments)
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


def message(content, *calls):
    # As the real service answers: null, and empty lists, where there is nothing.
    value = {"role": "assistant", "content": content, "refusal": None, "annotations": []}
    if calls:
        value["tool_calls"] = list(calls)
    return value


def tool_results(messages, *ids):
    last = messages[-len(ids):]
    check([m["role"] for m in last] == ["tool"] * len(ids), "tool messages expected")
    check([m["tool_call_id"] for m in last] == list(ids), "the ids of the calls expected")
    asked = messages[-len(ids) - 1]
    check(asked["role"] == "assistant" and asked["content"] is None, "the assistant's message expected")
    check([c["id"] for c in asked["tool_calls"]] == list(ids), "the assistant's calls expected")
    check("annotations" not in asked or asked["annotations"] == [], "an empty list became an object")
    return [json.loads(m["content"]) for m in last]


def play(body):
    messages = body["messages"]
    check(body["model"] == "recorded", "the model's name")
    check([t["function"]["name"] for t in body["tools"]] == NAMES, "three tools expected")
    for tool in body["tools"]:
        parameters = tool["function"]["parameters"]
        check(tool["type"] == "function" and parameters["type"] == "object", "a function's schema expected")
        check("allow_internet" not in parameters["properties"], "the internet is the host's to give")
    turn = len(turns)
    turns.append(body)
    if turn == 0:
        check([m["role"] for m in messages] == ["system", "user"], "two messages expected")
        check(messages[1]["content"] == 'What is "6" times 7?', "the question expected")
        return message(None, call(1, "InstantiationBlock", {"setup_code": "six = 6", "timeout": 100}))
    if turn == 1:
        made = tool_results(messages, "call_1")[0]
        check("error" not in made, made)
        step = {"sandbox_id": made["sandbox_id"], "step_code": "print('multiplying')\nsix * 7"}
        return message(None, call(2, "StepExecutionBlock", step), call(3, "CodeExecutionBlock", '{"code": 1'))
    step, wrong = tool_results(messages, "call_2", "call_3")
    check(step["main_result"] == {"text": "42"} and step["stdout_logs"] == "multiplying\n", step)
    check(list(wrong) == ["error"] and "no JSON" in wrong["error"], wrong)
    return message(f"It is {step['response']}.")


def arguments_of_curl():
    """The command lines of the curl programs that run."""
    lines = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                line = file.read()
        except OSError:
            continue
        if line.split(b"\0")[0].rsplit(b"/", 1)[-1] == b"curl":
            lines.append(line)
    return lines


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            check(self.path == "/v1/chat/completions", "the path")
            check(self.headers["Content-Type"] == "application/json", "the type")
            check(self.headers["Authorization"] == "Bearer " + KEY, "the key")
            lines = arguments_of_curl()
            check(lines and not any(KEY.encode() in line for line in lines), "the key is in curl's arguments")
            status, answer = 200, {"object": "chat.completion", "choices": [{"index": 0, "message": play(body)}]}
        except (ValueError, KeyError, TypeError) as problem:
            status, answer = 400, {"error": {"message": str(problem)}}
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


server = HTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write(f"{server.server_address[1]}\n")
server.serve_forever()
