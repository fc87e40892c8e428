"""Lines in and out without ever holding up the event loop: a terminal, a pipe, a file, a closed end."""

from __future__ import annotations

import codecs
import contextlib
import math
import os
import unicodedata

import trio

CHUNK = 4096
LONGEST = 1000  # characters of one line of input; the rest of it is dropped


class LineWriter:
    """Writes lines to a descriptor in a worker thread, in order; `broken` is set when nobody reads them."""

    def __init__(self, descriptor: int, encoding: str) -> None:
        self._descriptor = descriptor
        self._encoding = encoding
        self._put, self._queue = trio.open_memory_channel[str](math.inf)
        self.broken = trio.Event()

    def __call__(self, line: str) -> None:
        """Queue one line; never waits. A line that comes when everything ends already is dropped."""
        with contextlib.suppress(trio.BrokenResourceError):
            self._put.send_nowait(line)

    def end(self) -> None:
        """Nothing more will come: `run` returns when everything is written."""
        self._put.close()

    async def run(self) -> None:
        """Write until `end`."""
        async with self._queue:
            async for line in self._queue:
                if not self.broken.is_set():
                    data = encoded(line, self._encoding) + b"\n"
                    try:
                        await trio.to_thread.run_sync(_write_all, self._descriptor, data)
                    except OSError:
                        self.broken.set()


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def encoded(line: str, encoding: str) -> bytes:
    """A line in the encoding of the terminal; letters that it lacks lose their accents, or become "?"."""
    try:
        return line.encode(encoding)
    except UnicodeEncodeError:
        bare = "".join(c for c in unicodedata.normalize("NFKD", line) if not unicodedata.combining(c))
        return bare.encode(encoding, "replace")


async def read_lines(descriptor: int, send: trio.MemorySendChannel[str], encoding: str) -> None:
    """Send each line of a descriptor, without its end; close the channel at the end of the input.

    Reads with os.read in a thread that is left behind when this is cancelled: a thread blocked in Python's
    buffered stdin would stop the interpreter from shutting down.
    """
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    rest = ""
    async with send:
        while True:
            try:
                data = await trio.to_thread.run_sync(os.read, descriptor, CHUNK, abandon_on_cancel=True)
            except OSError:  # a terminal that has gone away
                data = b""
            rest += decoder.decode(data, final=not data)
            *lines, rest = rest.split("\n")
            for line in lines:
                await send.send(line[:LONGEST].rstrip("\r"))
            rest = rest[:LONGEST]
            if not data:
                if rest:
                    await send.send(rest)
                return
