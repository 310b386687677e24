"""The face: `explain`, and the `Explanation` that it returns. What it imports lies below."""
