"""A retail company to manage over periods: orders, suppliers, prices, contracts."""
