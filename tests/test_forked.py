"""The command that tests start is the command, also when it is killed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.forked import TARN

MORE_THAN_A_PIPE_HOLDS = b"age\n" + b"34\n" * 1_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the client is killed")
def test_who_kills_the_client_kills_the_command() -> None:
    """The command waits for a file that never ends; its streams are closed when it is gone."""
    asked, kept_open = os.pipe()
    try:
        process = subprocess.Popen([TARN, "look", "-"], stdin=asked, stdout=subprocess.PIPE)
        os.write(kept_open, MORE_THAN_A_PIPE_HOLDS)  # the command has begun to read
        process.kill()
        process.communicate(timeout=120)
    finally:
        os.close(asked)
        os.close(kept_open)
