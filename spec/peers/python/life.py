"""Life: pausing, going on by connect and by traffic, when the time is over; snapshots; and one sandbox for one key."""

from datetime import datetime, timezone

from e2b_code_interpreter import Sandbox, SandboxQuery, SandboxState
from in_sandbox import eventually, in_sandbox


def states(sandbox_id, wanted):
    """The state that lists of these states show a sandbox in, if they do."""
    query = SandboxQuery(state=wanted, metadata={"peer": "python-life"})
    paginator, found = Sandbox.list(query=query), []
    while paginator.has_next:
        found += [item.state for item in paginator.next_items() if item.sandbox_id == sandbox_id]
    return found


with in_sandbox("life", Sandbox, metadata={"peer": "python-life"}) as box:
    box.run_code("x = 41")
    assert box.pause() is True
    assert box.pause() is False
    assert not box.is_running()
    assert box.get_info().state == SandboxState.PAUSED
    assert states(box.sandbox_id, [SandboxState.PAUSED]) == [SandboxState.PAUSED]
    assert states(box.sandbox_id, [SandboxState.RUNNING]) == []
    again = Sandbox.connect(box.sandbox_id, timeout=90)
    assert again.run_code("x + 1").text == "42"
    assert (again.get_info().end_at - datetime.now(timezone.utc)).total_seconds() > 60

    # When the time is over, and on by the next request.
    sleepy = Sandbox.create(timeout=1, lifecycle={"on_timeout": "pause", "auto_resume": True})
    sleepy.files.write("kept", "here")
    eventually("paused", lambda: sleepy.get_info().state == SandboxState.PAUSED)
    assert sleepy.files.read("kept") == "here"
    assert sleepy.get_info().state == SandboxState.RUNNING
    assert sleepy.kill()

    # Snapshots.
    box.files.write("/home/user/notes", "first")
    snapshot = box.create_snapshot()
    box.files.write("/home/user/notes", "second")
    copy = Sandbox.create(snapshot.snapshot_id, timeout=60)
    assert copy.files.read("/home/user/notes") == "first"
    assert copy.run_code("1 + 1").text == "2"
    copy.kill()
    named = Sandbox.create_snapshot(box.sandbox_id, name="python-life")
    assert named.names == [named.snapshot_id]
    listed, ids = Sandbox.list_snapshots(sandbox_id=box.sandbox_id, limit=1), []
    while listed.has_next:
        ids += [item.snapshot_id for item in listed.next_items()]
    assert ids == [named.snapshot_id, snapshot.snapshot_id]
    assert all(Sandbox.delete_snapshot(snapshot_id) for snapshot_id in ids)
    assert not Sandbox.delete_snapshot(snapshot.snapshot_id)

    # The same request under the same key.
    first = Sandbox.create(timeout=60, idempotency_key="python-life-1")
    second = Sandbox.create(timeout=60, idempotency_key="python-life-1")
    assert first.sandbox_id == second.sandbox_id
    assert first.kill() and not second.kill()
