"""Rules that others wrote: read, judged by what they say alone and by rows, and made shorter."""
