"""The shop world: find and buy the product that an instruction describes (WebShop's rules)."""
