"""An explanation put to use: on one row, on other rows, beside others."""
