"""The context's asyncio loop.

A cell that awaits at top level runs as a task of this loop. Any other cell runs outside of it, so
that asyncio.run() works there as in a script. Between steps the loop keeps turning, and tasks that
the code left behind go on.
"""

import asyncio
import functools
import select
import threading


class ContextLoop:
    def __init__(self, interrupts):
        self._interrupts = interrupts
        self._loop = None
        # True when an interrupt became the cancellation of the task that the step awaits.
        self.cancelled = False
        self._let_plain_cells_make_tasks()

    def loop(self):
        """The loop; a new one if the code closed it."""
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.SelectorEventLoop()
            asyncio.set_event_loop(self._loop)
        return self._loop

    def begin_step(self):
        """Make the loop current again: asyncio.run() leaves the thread with none."""
        self.cancelled = False
        loop = self.loop()
        try:
            asyncio.get_event_loop()
        except RuntimeError:
            asyncio.set_event_loop(loop)

    def _let_plain_cells_make_tasks(self):
        """asyncio.create_task() in a cell that awaits nothing belongs to the context's loop."""
        original = asyncio.create_task

        @functools.wraps(original)
        def create_task(coro, **options):
            try:
                asyncio.get_running_loop()
            except RuntimeError:
                if threading.current_thread() is threading.main_thread():
                    return self.loop().create_task(coro, **options)
            return original(coro, **options)

        asyncio.create_task = asyncio.tasks.create_task = create_task

    def run(self, coro):
        """Run a cell that awaits at top level; an interrupt becomes KeyboardInterrupt in it."""
        loop = self.loop()
        task = loop.create_task(coro)

        def cancel():
            self.cancelled = True
            loop.call_soon_threadsafe(task.cancel)

        with self._interrupts.cancelling(cancel):
            while True:
                try:
                    return loop.run_until_complete(task)
                except (KeyboardInterrupt, SystemExit):
                    if task.done():
                        raise
                    # It hit another task of the code's, and ended the loop: go on to the end.
                    self.cancelled = True
                    task.cancel()

    def wait_readable(self, source):
        """Turn the loop until the socket has something to read."""
        poll = select.poll()
        poll.register(source, select.POLLIN)
        while not poll.poll(0):
            try:
                loop = self.loop()
                loop.add_reader(source, loop.stop)
                try:
                    loop.run_forever()
                finally:
                    loop.remove_reader(source)
            except Exception:
                self._loop = None  # the code broke it; tasks are lost, the context is not
            except BaseException:
                pass  # of a background task
