"""Packed files: gzip is read, and of others it is said what unpacks them, never an option that cannot read them."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pyarrow as pa
import pytest

from boxwood.errors import DataError
from boxwood.table import ReadOptions
from tests.reading import read_file
from tests.scale import each, some

CSV = b"x,y\n" + b"".join(b"%d,%d\n" % (i, i % 7) for i in range(200))


def tar(data, mode):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as packed:
        entry = tarfile.TarInfo("a.csv")
        entry.size = len(data)
        packed.addfile(entry, io.BytesIO(data))
    return file.getvalue()


def zipped(data):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("a.csv", data)
    return file.getvalue()


PACKED = {
    "t.csv.zst": (lambda data: pa.compress(data, "zstd", asbytes=True), "zstd -d"),
    "t.jsonl.zst": (lambda data: pa.compress(data, "zstd", asbytes=True), "zstd -d"),
    "t.csv.lz4": (lambda data: pa.compress(data, "lz4", asbytes=True), "lz4 -d"),
    "t.csv.br": (lambda data: pa.compress(data, "brotli", asbytes=True), "brotli -d"),
    "t.csv.bz2": (bz2.compress, "bzip2 -d"),
    "t.csv.xz": (lzma.compress, "xz -d"),
    "t.csv": (lzma.compress, "xz -d"),
    "t.7z": (lambda data: b"7z\xbc\xaf\x27\x1c" + bytes(20), "7z x"),
    "t.rar": (lambda data: b"Rar!\x1a\x07\0" + bytes(20), "unrar x"),
    "t.csv.Z": (lambda data: b"\x1f\x9d" + bytes(20), "gunzip"),
    "t.tar": (lambda data: tar(data, "w"), "tar -xf"),
    "t.tar.gz": (lambda data: tar(data, "w:gz"), "tar -xf"),
    "t.tgz": (lambda data: tar(data, "w:gz"), "tar -xf"),
    "t.zip": (zipped, "unzip"),
}


@each("name, format", some([(name, format) for name in PACKED for format in (None, "csv", "jsonl")], of=8))
def test_of_packed_files_it_is_said_what_unpacks_them(name, format, tmp_path):
    pack, command = PACKED[name]
    (tmp_path / name).write_bytes(pack(CSV))
    with pytest.raises(DataError, match=f"is packed .*\nunpack it first: {command} .*{name}; ") as told:
        read_file(str(tmp_path / name), ReadOptions(format=format))
    assert "--format" not in str(told.value)


def test_what_is_packed_by_gzip_is_read(tmp_path):
    for name, format in (("t.csv.gz", None), ("t.gz", "csv"), ("t", "csv")):
        (tmp_path / name).write_bytes(gzip.compress(CSV))
        assert len(read_file(str(tmp_path / name), ReadOptions(format=format)).X) == 200


@each(
    "content, proposed",
    [(CSV, "csv"), (gzip.compress(CSV), "csv"), (CSV.decode().encode("utf-16"), "csv"), (bytes(40), None)],
)
def test_a_format_is_proposed_for_what_may_be_text(content, proposed, tmp_path):
    (tmp_path / "t.dat").write_bytes(content)
    with pytest.raises(DataError, match=r"cannot tell the format of .*t\.dat") as told:
        read_file(str(tmp_path / "t.dat"))
    assert ("--format csv" in str(told.value)) is (proposed == "csv")
    if proposed is not None:
        assert len(read_file(str(tmp_path / "t.dat"), ReadOptions(format=proposed)).X) == 200
