"""What several ways of growing share: costs, orders, passes, names of leaves."""
