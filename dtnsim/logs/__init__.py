"""Parsers of benchmark logs: raw tool output in, `Measurement` records out; one file a tool."""
