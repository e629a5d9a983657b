"""Steps: code with state and callbacks, in contexts, past its deadline; and sandboxes by their id, listed,
lengthened, killed."""

import base64
from datetime import datetime, timezone

from e2b_code_interpreter import AuthenticationException, Sandbox, SandboxQuery, TimeoutException
from in_sandbox import fails, in_sandbox

with in_sandbox("steps", Sandbox, metadata={"peer": "python"}, envs={"GREETING": "hi"}) as box:
    assert box.is_running()

    # State from step to step, results, environment.
    box.run_code("x = 20 + 1")
    value = box.run_code("x * 2")
    assert value.text == "42"
    assert value.results[0].is_main_result
    assert box.run_code('import os; os.environ["GREETING"]').text == "hi"
    assert box.run_code('os.environ["ONLY"]', envs={"ONLY": "it's"}).text == "it's"

    # Callbacks, in order.
    seen = []
    streamed = box.run_code(
        'import sys\nprint("one")\nprint("two", file=sys.stderr)\ndisplay(3)\n1/0',
        on_stdout=lambda message: seen.append(f"out {message.line}"),
        on_stderr=lambda message: seen.append(f"err {message.line}"),
        on_result=lambda result: seen.append(f"result {result.text}"),
        on_error=lambda error: seen.append(f"error {error.name}"),
    )
    assert seen == ["out one\n", "err two\n", "result 3", "error ZeroDivisionError"], seen
    assert streamed.error.value == "division by zero"
    assert "ZeroDivisionError" in streamed.error.traceback
    assert streamed.logs.stdout == ["one\n"]
    assert box.run_code('print("grüße 🌍")').logs.stdout == ["grüße 🌍\n"]

    chart = box.run_code("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    assert base64.b64decode(chart.results[0].png)[1:4] == b"PNG"

    # Contexts of their own.
    context = box.create_code_context(cwd="/tmp")
    assert box.run_code("import os; os.getcwd()", context=context).text == "/tmp"
    assert box.run_code('"x" in globals()', context=context).text == "False"
    assert any(c.id == context.id for c in box.list_code_contexts())
    box.restart_code_context(context)
    box.remove_code_context(context)

    # A step past its deadline fails, and the state survives.
    with fails(TimeoutException):
        box.run_code("while True: pass", timeout=0.5)
    assert box.run_code("x").text == "21"

    # By id, from another object; listed; lengthened; killed.
    again = Sandbox.connect(box.sandbox_id)
    assert again.run_code("x").text == "21"
    again.set_timeout(120)
    info = Sandbox.get_info(box.sandbox_id)
    assert info.metadata["peer"] == "python"
    assert (info.end_at - datetime.now(timezone.utc)).total_seconds() > 100
    page = Sandbox.list(query=SandboxQuery(metadata={"peer": "python"})).next_items()
    assert any(s.sandbox_id == box.sandbox_id for s in page)
    assert again.kill()
    assert not Sandbox.kill(box.sandbox_id)
    assert not box.is_running()
    with fails(Exception):
        box.run_code("1")
    with fails(AuthenticationException):
        Sandbox.create(api_key="e2b_00")
