"""
A million rows from Parquet
===========================

``bw.scan`` reads a Parquet file in batches, as often as a tree needs it. So the table may be larger than memory. This
page writes a million rows into a temporary folder, explains the clusters that are stored beside them, and labels the
file.

The rides of this table are made up by the script.
"""

# %%
# The picture
# -----------
# The whole file was read to grow this tree and to count its rows.

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import boxwood as bw

N, BATCH = 1_000_000, 250_000
KINDS = ("commute", "errand", "night out", "airport")
MEANS = np.array([[6, 18, 8, 1.1], [2.5, 9, 13, 1.4], [5, 14, 23, 2.2], [28, 38, 12, 1.8]])
SPREADS = np.array([[1.5, 4, 1, 0.3], [1, 3, 2.5, 0.5], [2, 4, 1, 0.7], [5, 7, 4, 0.6]])
COLUMNS = ("kilometres", "minutes", "hour", "people")

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "rides.parquet"
rng = np.random.default_rng(0)
writer = None
for _ in range(N // BATCH):  # one batch in memory at a time
    kind = rng.choice(4, BATCH, p=[0.45, 0.3, 0.15, 0.1])
    values = MEANS[kind] + SPREADS[kind] * rng.normal(size=(BATCH, 4))
    batch = pa.table(dict(zip(COLUMNS, values.T, strict=True)) | {"kind": np.array(KINDS)[kind]})
    writer = writer or pq.ParquetWriter(path, batch.schema)
    writer.write_table(batch)
writer.close()

with bw.scan(path) as table:
    ex = bw.explain(table, "kind", method="imm")
    readings = table.readings
ax = ex.plot()

# %%
# The rules
# ---------

print(ex)
print(f"{path.stat().st_size / 1e6:.0f} MB of Parquet, read in {len(readings)} passes")

# %%
# Label the file
# --------------
# ``write_labels`` reads the file once more and writes it with the cluster that each row's rule names. The same rules
# could go into a database as SQL, so that no row leaves it.

labelled = Path(folder.name) / "labelled.parquet"
bw.write_labels(ex, path, labelled)
print(pq.read_table(labelled).slice(0, 3).to_pandas().round(1))
print(ex.to_sql("duckdb"))
folder.cleanup()
