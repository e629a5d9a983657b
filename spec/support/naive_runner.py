"""A naive runner of code, and its supervisor in one: the events of a step are lines of JSON on a pipe.

    python3 naive_runner.py stdout|inherited CODE

The pipe is the code's standard output, or one that the code's children inherit. Prints what the supervisor takes for
the step: its events up to the first `end`, one a line.
"""
import json
import os
import subprocess
import sys

WAY, CODE = sys.argv[1:]
STEP = """
import json, os, sys
def tell(event):
    os.write(int(sys.argv[1]), (json.dumps(event) + "\\n").encode())
tell({"type": "number_of_executions", "execution_count": 1})
exec(sys.argv[2])
sys.stdout.flush()
tell({"type": "result", "text": "true"})
tell({"type": "end"})
"""

read, write = os.pipe()
os.set_inheritable(write, True)
stdout = write if WAY == "stdout" else subprocess.DEVNULL
process = subprocess.Popen([sys.executable, "-c", STEP, str(write), CODE], stdout=stdout, close_fds=False)
os.close(write)
with open(read, errors="replace") as lines:
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        print(json.dumps(event))
        if event.get("type") == "end":
            break
process.kill()
