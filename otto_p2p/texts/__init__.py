"""All that people read: every sentence of the program, made from values, in the language that is spoken."""
