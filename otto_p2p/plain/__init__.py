"""The screen of plain lines."""
