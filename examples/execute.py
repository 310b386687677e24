"""Run the notebooks of this folder, and store what their cells print and draw: `python examples/execute.py`."""

from __future__ import annotations

import base64
import contextlib
import io
import json
from pathlib import Path

import matplotlib

HERE = Path(__file__).parent


def run(notebook: dict) -> list[list[dict]]:
    """Return the outputs of each cell of code, run in this folder and in the order of the notebook."""
    names: dict = {}
    with contextlib.chdir(HERE), matplotlib.rc_context({"backend": "Agg"}):
        return [_outputs("".join(cell["source"]), names) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _outputs(source: str, names: dict) -> list[dict]:
    from matplotlib import pyplot

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "cell", "exec"), names)
    texts = [{"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(keepends=True)}]
    pictures = [_picture(pyplot.figure(number)) for number in pyplot.get_fignums()]
    pyplot.close("all")
    return [*(texts if printed.getvalue() else []), *pictures]


def _picture(figure) -> dict:
    pixels = io.BytesIO()
    figure.savefig(pixels, format="png", dpi=80, metadata={"Software": None})
    data = {"image/png": base64.b64encode(pixels.getvalue()).decode(), "text/plain": ["<Figure>"]}
    return {"output_type": "display_data", "metadata": {}, "data": data}


def main() -> None:
    """Write the outputs into all notebooks."""
    for path in sorted(HERE.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for count, (cell, outputs) in enumerate(zip(code, run(notebook), strict=True), 1):
            cell["execution_count"], cell["outputs"] = count, outputs
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
