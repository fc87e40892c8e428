"""Exit statuses of the program, as shells have them."""

FAILED = 1
USAGE = 2
INTERRUPTED = 130  # 128 + SIGINT
