"""A shop: searching a catalogue and buying by an instruction (WebShop's rules)."""
