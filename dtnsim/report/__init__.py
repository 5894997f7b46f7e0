"""How answers are shown: text, JSON documents, HTML. No arithmetic of its own."""
