"""The cheapest of all trees, with a bound."""
