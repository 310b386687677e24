"""What became of segments as Markdown, for a ticket or a pull request."""

from __future__ import annotations

from boxwood.render.forms.text import escape_markdown
from boxwood.words.living import CellRows, Said


def markdown_of(said: Said) -> str:
    """Return a report as GitHub's Markdown."""
    changes = "\n".join(f"- {escape_markdown(change)}" for change in said.changes)
    remarks = "\n".join(f"- {escape_markdown(remark)}" for remark in said.remarks)
    parts = [f"## {escape_markdown(said.headline)}", changes, *map(table_in_markdown, said.tables), remarks]
    return "\n\n".join(part for part in parts if part)


def table_in_markdown(table: CellRows) -> str:
    """Return a table as GitHub's Markdown."""
    header, *rows = ([escape_markdown(cell) for cell in cells] for cells in table.rows)
    sides = ["---" if i in table.texts else "---:" for i in range(len(header))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, sides, *rows))
