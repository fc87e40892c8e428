"""The full-screen table: a pure model and its painting, and a thin Textual surface that shows it."""
