"""What the tests of all runners share: one runner for a class, and interrupts."""

import contextlib
import threading
import time
import unittest


class RunnerCase(unittest.TestCase):
    """One runner for the tests of a class, which says how to `start` it."""

    @classmethod
    def start(cls):
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        cls.runner = cls.start()

    @classmethod
    def tearDownClass(cls):
        cls.runner.close()

    def interrupted_once_it_prints(self, code, within, pause=time.sleep):
        """The events of a step that is interrupted a moment after it has printed something."""
        self.runner.start(code)
        events = self.runner.wait(lambda event: event["type"] == "stdout")
        pause(0.1)
        begin = time.monotonic()
        self.runner.interrupt()
        events += self.runner.finish()
        self.assertLess(time.monotonic() - begin, within)
        return events

    @contextlib.contextmanager
    def rain_of_interrupts(self, seconds):
        """While it lasts the runner is interrupted every so many seconds."""
        stop = threading.Event()

        def rain():
            while not stop.is_set():
                self.runner.interrupt()
                time.sleep(seconds)

        thread = threading.Thread(target=rain)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
