"""The world of a retail company: orders, suppliers, prices and contracts over many periods."""
