"""Players of limit Texas hold'em: rule-based, or trained by OpenSpiel."""
