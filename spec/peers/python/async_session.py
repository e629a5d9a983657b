"""The asynchronous SDK: steps, commands, terminals, files and watches, several at once."""

import asyncio

from e2b import CommandExitException, FilesystemEventType, FileNotFoundException, TimeoutException
from e2b.sandbox.commands.command_handle import PtySize
from e2b_code_interpreter import AsyncSandbox
from in_sandbox import content, fails


async def eventually(what, fn):
    async with asyncio.timeout(5):
        while not fn():
            await asyncio.sleep(0.02)


async def steps(box):
    seen = []
    await box.run_code("x = 41")
    result = await box.run_code("print('hi'); x + 1", on_stdout=lambda message: seen.append(message.line))
    assert (result.text, seen) == ("42", ["hi\n"])
    with fails(TimeoutException):
        await box.run_code("while True: pass", timeout=0.5)
    assert (await box.run_code("x")).text == "41"


async def commands(box):
    async def run(number):
        return (await box.commands.run(f"sleep 0.05; echo {number}")).stdout

    assert await asyncio.gather(*(run(i) for i in range(20))) == [f"{i}\n" for i in range(20)]
    with fails(CommandExitException) as end:
        await box.commands.run("echo partial; exit 7")
    assert (end.error.exit_code, end.error.stdout) == (7, "partial\n")

    out = []
    cat = await box.commands.run("cat", background=True, stdin=True, on_stdout=out.append)
    await cat.send_stdin("one\n")
    await eventually("the echo", lambda: out == ["one\n"])
    await cat.close_stdin()
    assert (await cat.wait()).stdout == "one\n"

    sleeper = await box.commands.run("sleep 600", background=True)
    assert any(process.pid == sleeper.pid for process in await box.commands.list())
    await sleeper.disconnect()
    again = await box.commands.connect(sleeper.pid)
    assert await again.kill()
    with fails(CommandExitException):
        await again.wait()
    with fails(TimeoutException):
        await box.commands.run("sleep 600", timeout=0.3)


async def terminals(box):
    shown = bytearray()
    shell = await box.pty.create(PtySize(cols=80, rows=24), on_data=shown.extend)
    await box.pty.send_stdin(shell.pid, b'echo "[$(stty size)]"\n')
    await eventually("the size", lambda: b"[24 80]" in shown)
    await box.pty.resize(shell.pid, PtySize(cols=132, rows=50))
    await box.pty.send_stdin(shell.pid, b'echo "[$(stty size)]"; exit\n')
    assert (await shell.wait()).exit_code == 0
    assert b"[50 132]" in shown


async def files(box):
    content = bytes(range(256)) * 4000

    async def one(number):
        path = f"files/{number % 5}/f{number}"
        await box.files.write(path, content, use_octet_stream=number % 2 == 0)
        assert await box.files.read(path, format="bytes") == content

    await asyncio.gather(*(one(i) for i in range(20)))

    async def pieces():
        for at in range(0, len(content), 100_000):
            yield content[at:at + 100_000]

    await box.files.write("streamed", pieces())
    read = b""
    async with await box.files.read("streamed", format="stream") as stream:
        async for piece in stream:
            read += piece
    assert read == content
    assert (await box.files.get_info("streamed")).size == len(content)
    assert len(await box.files.list("files", depth=2)) == 25
    with fails(FileNotFoundException):
        await box.files.read("not there")


async def watching(box):
    events, exits = [], []
    await box.files.make_dir("watched/below")
    handle = await box.files.watch_dir(
        "watched", on_event=events.append, on_exit=exits.append, recursive=True, include_entry=True
    )
    await box.files.write("watched/below/file", "x")
    await eventually("the event", lambda: any(
        (e.type, e.name) == (FilesystemEventType.WRITE, "below/file") and e.entry.size == 1 for e in events
    ))
    await handle.stop()
    assert exits == [None]


async def main():
    box = await AsyncSandbox.create(timeout=60)
    try:
        await asyncio.gather(*(topic(box) for topic in (steps, commands, terminals, files, watching)))
        last = await box.commands.run("sleep 600", background=True)
        await box.kill()
        with fails(TimeoutException):
            await last.wait()
    finally:
        await box.kill()


asyncio.run(main())
content("async_session")
