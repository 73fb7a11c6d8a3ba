"""PTX: parsed without loss, understood, run and rewritten."""
