"""The shop world: search a catalogue and buy a product by an instruction (WebShop's rules)."""
