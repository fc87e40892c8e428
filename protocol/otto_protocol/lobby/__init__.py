"""From HERE records to one table and its START certificate."""
