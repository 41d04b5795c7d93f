"""A shop: searching a catalogue and buying what an instruction asks for (WebShop's rules)."""
