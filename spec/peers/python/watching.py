"""Watching directories by asking what is new: what changes, below too, with the entries."""

from e2b import FilesystemEventType, NotFoundException, SandboxException
from in_sandbox import eventually, fails, in_sandbox

with in_sandbox("watching") as box:
    files, commands = box.files, box.commands

    class Watch:
        def __init__(self, path, **options):
            self.handle = files.watch_dir(path, **options)
            self.events = []

        def has(self, kind, name):
            """Waits for such an event and returns it."""

            def look():
                self.events += self.handle.get_new_events()
                return next((e for e in self.events if (e.type, e.name) == (kind, name)), None)

            return eventually(lambda: f"{kind} {name} in {self.events}", look)

    files.make_dir("watched/below")
    files.write("watched/old", "x")
    flat = Watch("watched")
    assert flat.handle.get_new_events() == []
    files.write("watched/new", "content")
    flat.has(FilesystemEventType.CREATE, "new")
    flat.has(FilesystemEventType.WRITE, "new")
    commands.run("chmod 600 watched/old")
    flat.has(FilesystemEventType.CHMOD, "old")
    files.rename("watched/old", "watched/renamed")
    flat.has(FilesystemEventType.RENAME, "old")
    flat.has(FilesystemEventType.CREATE, "renamed")
    files.remove("watched/renamed")
    flat.has(FilesystemEventType.REMOVE, "renamed")
    odd = 'two words\n"quoted" 🌍'
    files.write(f"watched/{odd}", "")
    flat.has(FilesystemEventType.CREATE, odd)
    files.write("watched/below/unseen", "x")
    files.write("watched/marker", "")
    flat.has(FilesystemEventType.CREATE, "marker")
    assert not any("unseen" in event.name for event in flat.events)
    assert all(event.entry is None for event in flat.events)

    # Recursive, into directories that come later, with entries.
    deep = Watch("watched", recursive=True, include_entry=True)
    files.write("watched/below/seen", "four")
    event = deep.has(FilesystemEventType.WRITE, "below/seen")
    assert event.entry.path == "/home/user/watched/below/seen"
    assert event.entry.owner == "user"
    files.make_dir("watched/later")
    deep.has(FilesystemEventType.CREATE, "later")
    files.write("watched/later/file", "x")
    deep.has(FilesystemEventType.CREATE, "later/file")
    files.remove("watched/below/seen")
    assert deep.has(FilesystemEventType.REMOVE, "below/seen").entry is None

    # Stopped, there is nothing to ask any more; what cannot be watched fails at once.
    deep.handle.stop()
    with fails(SandboxException):
        deep.handle.get_new_events()
    with fails(NotFoundException):
        deep.handle.stop()
    flat.has(FilesystemEventType.CREATE, "later")
    flat.handle.stop()
    with fails(NotFoundException):
        files.watch_dir("not/there")
    with fails(SandboxException):
        files.watch_dir("watched/new")
