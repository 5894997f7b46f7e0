"""The transfer tools, one a file: their options under the names the tools use, and what they do to a byte."""
