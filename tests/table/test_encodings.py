"""CSV files that are not UTF-8."""

import gzip

import pytest

import boxwood as bw
from boxwood.errors import DataError
from boxwood.table import ReadOptions, label_rows
from boxwood.table.csv import encoding_of
from boxwood.table.labels import Rules
from tests.reading import read_file

TEXT = "größe;preis;ort\r\n1;2,5;Köln\r\n2;3,5;„Süd“ €\r\n"
HINT = "read as {}; if that is wrong, name the encoding with --encoding"


def file_of(folder, content, name="t.csv"):
    path = folder / name
    path.write_bytes(content)
    return str(path)


@pytest.mark.crossed
@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-32", "utf-8-sig", "utf-8"])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_what_excel_writes_is_read_with_a_hint(tmp_path, encoding, name):
    content = TEXT.encode(encoding)
    path = file_of(tmp_path, gzip.compress(content) if name.endswith("gz") else content, name)
    table = read_file(path)
    assert (table.columns, table.X[:, :2].tolist()) == (("größe", "preis", "ort"), [[1, 2.5], [2, 3.5]])
    assert [hint for hint in table.hints if "--encoding" in hint] == (
        [] if "8" in encoding else [HINT.format(encoding)]
    )


@pytest.mark.parametrize("encoding", ["latin-1", "cp1251", "utf-16-be", "shift-jis", "cp437"])
def test_other_encodings_are_read_by_name_and_without_a_hint(tmp_path, encoding):
    name = "größe" if encoding in ("latin-1", "cp437", "utf-16-be") else "количество"
    path = file_of(tmp_path, f"{name},b\n1,2\n2,4\n".encode(encoding))
    table = read_file(path, ReadOptions(encoding=encoding))
    assert (table.columns, table.hints) == ((name, "b"), ())
    with bw.scan(path, encoding=encoding) as source:
        assert source.names == (name, "b")


def test_labels_are_written_in_utf8_and_the_guess_is_told(tmp_path):
    path, out, told = file_of(tmp_path, TEXT.encode("cp1252")), tmp_path / "o.csv", []
    label_rows(path, str(out), Rules("x0", {"x0": "größe"}), tell=told.append)
    assert out.read_text("utf-8").splitlines()[2] == '2,"3,5",„Süd“ €,2.0'
    assert told == [HINT.format("cp1252")]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("ü,b\n1,2\n".encode() + b"\xfc,3\n", 3),  # UTF-8 with a byte of another encoding
        (b"a,b\n1,\x81\n", 2),  # which cp1252 does not have
        ("a,b\n1,Größe".encode()[:-2], 2),  # cut off inside of a character
    ],
)
def test_what_may_be_either_is_refused_with_its_line(tmp_path, content, line):
    with pytest.raises(DataError, match=rf"line {line} is not UTF-8 text, and it is not sure .*\nname the encoding"):
        read_file(file_of(tmp_path, content))


@pytest.mark.crossed
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_utf16_without_its_mark_is_told(tmp_path, encoding, name):
    content = TEXT.encode(encoding)
    path = file_of(tmp_path, gzip.compress(content) if name.endswith("gz") else content, name)
    for read in (read_file, bw.scan):
        with pytest.raises(DataError, match=f"looks like UTF-16 without its mark; read it with --encoding {encoding}$"):
            read(path)
    assert read_file(path, ReadOptions(encoding=encoding)).columns == ("größe", "preis", "ort")


def test_an_encoding_must_be_known_and_fit(tmp_path):
    path = file_of(tmp_path, TEXT.encode("cp1252"))
    for unknown in ("nope", "hex"):
        with pytest.raises(ValueError, match=f"unknown encoding '{unknown}'"):
            read_file(path, ReadOptions(encoding=unknown))
    with pytest.raises(DataError, match="line 1 is not UTF-8 text\nname its encoding"):
        read_file(path, ReadOptions(encoding="utf8"))
    with pytest.raises(DataError, match=r"cannot read .* as ascii: ordinal not in range"):
        read_file(path, ReadOptions(encoding="ascii"))
    with pytest.raises(TypeError, match="header, encoding and table are for files"):
        bw.scan("SELECT 1 AS a", encoding="ascii")
    with pytest.raises(DataError, match="is parquet; --no-header, --decimal and --encoding are for csv"):
        read_file(path, ReadOptions(format="parquet", encoding="ascii"))


def test_a_character_between_blocks_is_no_error(tmp_path):
    path = file_of(tmp_path, (f"{'a' * 100}\n" + "é" * (1 << 20)).encode())
    assert encoding_of(path, "none", path) == "utf-8"


@pytest.mark.parametrize(("length", "where"), [(5_000_000, "a line"), (2_050_000, "line 3")])
def test_a_line_that_is_too_long_is_told(tmp_path, length, where):
    path = file_of(tmp_path, b"a,b\n1,2\n" + length * b"x" + b",3\n4,5\n")
    with pytest.raises(DataError, match=f"{where} is longer than 2,000,000 bytes"):
        read_file(path)
