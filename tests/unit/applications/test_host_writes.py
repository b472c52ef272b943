"""Which processes may still write what a launch waits for, and how long it waits."""

import os
import subprocess
import threading

from ptxtool.applications.host_writes import PATIENCE, may_be_written


def test_other_threads_may_write() -> None:
    end = threading.Event()
    other = threading.Thread(target=end.wait)
    other.start()
    assert may_be_written(os.getpid(), 0)
    assert not may_be_written(os.getpid(), round(PATIENCE / 0.05))
    end.set()
    other.join()


def test_the_thread_that_launched_writes_nothing() -> None:
    with subprocess.Popen(["sleep", "60"]) as alone:
        assert not may_be_written(alone.pid, 0)
        alone.kill()
    assert not may_be_written(alone.pid, 0)  # it has ended
