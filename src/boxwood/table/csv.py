"""CSV files: their delimiter, the names of their columns, their encoding, and the SQL that reads them.

DuckDB guesses the delimiter. Everything else is fixed: the first line is the header, unless the caller says that there
is none; quotes are doubled; every value is text. So a value far down the file is read in the same way as the values at
its top. Lines before the header that begin with `#` are skipped, and fields may be separated by spaces. Titles above
the header are left out where the rows beneath leave no doubt, see `Head`. Lines below it that describe the columns,
totals and notes are told from rows, see `CsvDialect`: an explanation leaves them out, and a table that gets its
clusters keeps them. Lines may end in any way; where they end in several ways, DuckDB reads a copy.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice, pairwise
from typing import IO, TYPE_CHECKING, NamedTuple, cast

from boxwood._messages import cut_off, list_words
from boxwood._texts import is_double
from boxwood.errors import DataError
from boxwood.table.heads import FIRST, TOTAL, Head, doubtful_ends, ends_of, filled_fields, hints_on_ends, is_sum
from boxwood.table.options import distinct_names
from boxwood.table.sql import MANY, ONE_FILE, as_pattern, sql_text
from boxwood.table.written import is_plain, number_in

if TYPE_CHECKING:
    import duckdb

_QUOTES = "quote='\"', escape='\"'"
_ABOVE = "if there is a title above the column names, delete it"


_Lines = tuple[tuple[str | None, ...], ...]


class CsvDialect(NamedTuple):
    """How a CSV file is written.

    Parameters
    ----------
    path, compression : str
        The file to read: the table itself, or a copy with single spaces between its fields.
    delimiter : str
    names : tuple of str or None
        Fields of the header, unchanged; for a table without header, `column 1`, `column 2`, …
    skip : int
        Number of lines before the first one that DuckDB reads.
    header : bool
        Whether that line is the header; else it is the first row.
    hints : tuple of str, default=()
        Lines for the reader on lines that are left out.
    no_rows : tuple of rows, default=()
        Lines that are read, but are no rows, such as totals and notes: for each column a word that is there, "" where
        nothing is, and None where anything may be.
    may_be_rows : tuple of rows, default=()
        Likewise, lines that may be rows, but have texts where others have numbers.
    end : str, default=""
        How lines end; "" leaves it to DuckDB, which looks at the first end, that in quotes, too.
    """

    path: str
    compression: str
    delimiter: str
    names: tuple[str | None, ...]
    skip: int
    header: bool
    hints: tuple[str, ...] = ()
    no_rows: _Lines = ()
    may_be_rows: _Lines = ()
    end: str = ""

    def sql_of(self, lines: _Lines) -> str:
        """Return SQL for whether a line is one of some, such as those that are no rows; "" if these are none."""
        tests = (
            " AND ".join(
                f"coalesce({_bare(f'CAST(c{i} AS VARCHAR)', inside=word != '')}, '') = {sql_text(word)}"
                for i, word in sorted(enumerate(line), key=lambda one: not one[1])
                if word is not None
            )
            for line in lines
        )
        return " OR ".join(f"({test})" for test in tests)


def detect_dialect(
    con: duckdb.DuckDBPyConnection,
    path: str,
    compression: str,
    delimiter: str | None,
    workspace: str,
    header: bool | None = None,
    end: str = "",
    *,
    all_rows: bool = False,
) -> CsvDialect:
    """Return how a CSV file is written.

    IN: header: whether the first line holds names; None looks at it. end: as `CsvDialect` has it. all_rows: whether
    lines below the names of columns that describe them are read.

    DuckDB guesses the delimiter from a sample of lines. If it sees a single column, as it does in lines of different
    length, the guess is made from the first line alone, and then spaces are tried.
    """
    lines, may_have_names = _first_lines(path, compression), header is not False
    skip = _n_comments(lines, may_have_names)
    hints = () if not skip else (f"skipped {'1 line that begins' if skip == 1 else f'{skip} lines that begin'} with #",)
    skip += next((i for i, line in enumerate(lines[skip:]) if line.strip()), 0) if may_have_names else 0
    if may_have_names and (found := _head_of(lines[skip:], delimiter, is_sure=not all_rows)) is not None:
        parted_by, head = found
        names = tuple(name or None for name in head.names)
        if not all_rows:
            hints = (*hints, *head.hints(skip))
        dialect = CsvDialect(path, compression, parted_by, names, skip, False, hints, end=end)
        if not all_rows:
            skip += _n_skipped(con, dialect, head)
            return _with_ends(con, dialect._replace(skip=skip))
        sure = _head_of(lines[skip:], parted_by)
        if sure is not None:
            hints = (*hints, *sure[1].hints(skip, is_kept=True))
        below = [] if sure is None else [tuple(map(_bare_text, fields)) for fields in sure[1].descriptions]
        told = [tuple(map(_bare_text, fields)) for fields in head.descriptions]
        skip += _n_skipped(con, dialect, head.to_names())
        doubtful = tuple(line for line in told if line not in below)
        dialect = dialect._replace(skip=skip, hints=hints, no_rows=tuple(below), may_be_rows=doubtful)
        return _with_ends(con, dialect, is_kept=True)
    first = lines[skip] if skip < len(lines) else ""
    if delimiter is None:
        delimiter, width = _sniff(con, path, compression, skip, end=end)
        if width == 1:
            delimiter, width = _sniff_line(con, first, workspace)
        if width == 1 and _has_spaces(lines[skip:], may_have_names):
            path, compression, end = _single_spaces(path, compression, workspace), "uncompressed", ""
            delimiter, width = " ", len(first.split())
    else:
        width = _sniff_line(con, first, workspace, delimiter)[1]
    dialect = CsvDialect(path, compression, delimiter, (None,) * width, skip, False, hints, end=end)
    rows = (
        con.execute(f"SELECT * FROM {csv_relation(dialect)} LIMIT {_FIRST_ROWS}").fetchall() if may_have_names else []
    )
    begins_with_data = header is None and _begins_with_data(rows)
    if begins_with_data:
        numbers = ", ".join(rows[0][:3])
        hints = (
            *hints,
            f"the first line ({numbers}) is numbers above numbers, so it is read as a row; names? --header",
        )
    if header is False or begins_with_data:
        names = tuple(f"column {i + 1}" for i in range(width))
        return _with_ends(con, dialect._replace(names=names, hints=hints), is_kept=all_rows)
    return _with_ends(con, dialect._replace(names=tuple(rows[0] if rows else ()), header=True), is_kept=all_rows)


_FIRST_ROWS = 100  # rows that are looked at for whether the first line is one of them
_DETECTED = "['BOOLEAN', 'BIGINT', 'DOUBLE', 'VARCHAR']"  # DuckDB takes 17.03.23 for a day of 2017


def csv_relation(dialect: CsvDialect, *, text: bool = True, texts: Sequence[int] = ()) -> str:
    """Return the SQL that reads a CSV file with columns c0, c1, …: all as text, or of types that DuckDB detects.

    Dates and times are text in any case. `texts` are the positions of columns that stay text in the second case.
    """
    width = len(dialect.names)
    if text:
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(width))
        types = f"auto_detect=false, columns={{{columns}}}"
    else:
        types = f"sample_size=-1, comment='', auto_type_candidates={_DETECTED}"
    if not text and texts:
        names, as_texts = ", ".join(f"'c{i}'" for i in range(width)), ", ".join(f"'c{i}': 'VARCHAR'" for i in texts)
        types += f", names=[{names}], types={{{as_texts}}}"
    options = (
        f"delim={sql_text(dialect.delimiter)}, {_QUOTES}, skip={dialect.skip}, header={dialect.header}, "
        f"compression='{dialect.compression}', {types}{_ending(dialect.end)}"
    )
    return f"read_csv({as_pattern(dialect.path)}, {options}, {ONE_FILE})"


def texts_of_numbers(con: duckdb.DuckDBPyConnection, dialect: CsvDialect) -> list[int]:
    """Return the columns that are no numbers for a copy: some have leading zeros, or more digits than a type has."""
    found: list[int] = []
    for start in range(0, len(dialect.names), MANY):
        places = range(start, min(start + MANY, len(dialect.names)))
        tests = ", ".join(_loses_digits(f"c{i}") for i in places)
        row = con.execute(f"SELECT {tests} FROM {csv_relation(dialect)}").fetchall()[0]
        found += [i for i, loses in zip(places, row, strict=True) if loses]
    return found


def _loses_digits(text: str) -> str:
    """Return SQL for whether a column has leading zeros, or whole numbers that its type, a double perhaps, has not."""
    is_long = f"(length({text}) > 15 AND regexp_full_match({text}, '[-+]?[0-9]{{16,}}'))"
    is_part = f"regexp_full_match({text}, '[-+]?[0-9]*[.][0-9]*') OR regexp_full_match({text}, '[-+0-9.]+[eE][-+0-9]+')"
    return (
        f"coalesce(bool_or(regexp_full_match({text}, '[-+]?0[0-9]+([.].*)?')), false) OR "
        f"coalesce(bool_or({is_long} AND TRY_CAST({text} AS BIGINT) IS NULL), false) OR "
        f"coalesce(bool_or({is_long}) AND bool_or({is_part}), false)"
    )


def _ending(end: str) -> str:
    return f", new_line={sql_text(end.encode('unicode_escape').decode())}" if end else ""


def _bare(text: str, *, inside: bool) -> str:
    """Return SQL for a text without blanks around it, and with single ones inside, as `_bare_text` has it."""
    return f"trim(regexp_replace({text}, '[ \\t\\r\\n]+', ' ', 'g'))" if inside else f"trim({text}, ' \t\r\n')"


def _bare_text(text: str) -> str:
    return re.sub("[ \t\r\n]+", " ", text).strip(" ")


def header_hints(dialect: CsvDialect) -> tuple[str, ...]:
    """Return lines for the reader: what was skipped, which columns got other names, whether these look like data."""
    hints = [*dialect.hints, *hints_on_names(dialect.names)]
    numbers = [name for name in dialect.names if name is not None and is_double(name)]
    fractions = any(not re.fullmatch(r"\s*[-+]?[0-9]+\s*", name) for name in numbers)
    if dialect.header and (fractions or (len(numbers) == len(dialect.names) and not _counts(numbers))):
        hints.append(f"column names look like data ({', '.join(numbers[:3])}); no header? --no-header")
    return tuple(hints)


def hints_on_names(names: Sequence[str | None]) -> Iterator[str]:
    """Yield lines for the reader on columns that got other names."""
    pairs = list(zip(names, distinct_names(names), strict=True))
    renamed = [new for name, new in pairs if name not in (None, new)]
    unnamed = [new for name, new in pairs if name is None]
    if unnamed:
        yield f"columns without a name are called by their number: {list_words(unnamed)}"
    if renamed:
        yield f"repeated column names get a number: {list_words(renamed)}"


def explain_message(message: str) -> str | None:
    """Return DuckDB's message in one sentence, if a line has too many fields, too few, is too long or not UTF-8."""
    line = re.search(r"CSV Error on Line: (\d+)", message)
    where = f"line {line[1]}" if line else "a line"
    if width := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message):
        fields = f"{where} has {width[2]} field{'' if width[2] == '1' else 's'}, the header has {width[1]}"
        return f"{fields}\n{_ABOVE}" if int(width[2]) > int(width[1]) else fields
    if "not utf-8" in message:
        return f"{where} is not UTF-8 text\nname its encoding with --encoding, or save it as UTF-8"
    if "Maximum line size" in message:
        return f"{where} is longer than 2,000,000 bytes"
    if "unterminated quote" in message:
        return f"a value in quotes in {where} has no end, or is longer than 2,000,000 bytes"
    if line:  # the line itself is quoted between that and the reason
        return f"{where}: {cut_off(message.split('Possible fixes')[0].strip().splitlines()[-1])}"
    if "invalid state" in message:
        return "its quotes and ends of lines are not those of CSV"
    return None


# ---------------------------------------------------------------------------------------------------- first lines
def _open_text(path: str, compression: str) -> IO[str]:
    how = {"mode": "rt", "encoding": "utf-8-sig", "errors": "replace"}
    return cast("IO[str]", gzip.open(path, **how) if compression == "gzip" else open(path, **how))  # type: ignore[call-overload]


def _first_lines(path: str, compression: str) -> list[str]:
    """Return the first lines of a file without their ends; of a damaged file, those that can be read."""
    lines: list[str] = []
    try:
        with _open_text(path, compression) as file:
            lines.extend(line.rstrip("\r\n") for line in islice(file, FIRST))
    except (OSError, EOFError, zlib.error):
        pass  # DuckDB says what is wrong when it reads the file
    return lines


def _n_comments(lines: Sequence[str], header: bool) -> int:
    """Return the number of lines to skip. A line such as `#id,x` above a row of as many fields is a header, however."""
    n = next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)
    if n == 0 or not header:
        return n
    above, row = (re.split(r"[,;\t|]", line) for line in lines[n - 1 : n + 1])
    return n - 1 if len(above) == len(row) and any(map(is_double, row)) else n


def _head_of(lines: Sequence[str], delimiter: str | None, *, is_sure: bool = True) -> tuple[str, Head] | None:
    """Return the delimiter and the head of a file from its first lines; see `Head.of`."""
    parted = {each: _records(lines, each) for each in (",;\t|" if delimiter is None else delimiter)}
    widths = {each: {len(fields) for _, fields in records if fields} for each, records in parted.items()}
    even = [each for each, found in widths.items() if len(found) == 1 and 1 not in found]  # no line stands out
    heads = [(each, head) for each in even or parted if (head := Head.of(parted[each], is_sure=is_sure)) is not None]
    return max(heads, key=lambda pair: len(pair[1].names), default=None)


def _n_skipped(con: duckdb.DuckDBPyConnection, dialect: CsvDialect, head: Head) -> int:
    """Return how many lines DuckDB must skip: older versions do not count empty ones, but for the first of some."""
    n, n_filled = len(head.records), sum(bool(fields) for _, fields in head.records)
    for skip in range(n, n_filled, -1):
        rows = csv_relation(dialect._replace(skip=dialect.skip + skip))
        row = con.execute(f"SELECT * FROM {rows} LIMIT 1").fetchone() or ()
        if [(text or "").split() for text in row] == [text.split() for text in head.first_row]:
            return skip
    return n_filled


def _records(lines: Sequence[str], delimiter: str) -> list[tuple[int, list[str]]]:
    """Return the fields of each record, with the number of its first line; the last one may be cut off, and is not."""
    records, line = [], 1
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    with suppress(csv.Error):  # of a field that is too long
        for fields in reader:
            records.append((line, fields))
            line = reader.line_num + 1
    return records[:-1] if len(lines) == FIRST else records


def _with_ends(con: duckdb.DuckDBPyConnection, dialect: CsvDialect, *, is_kept: bool = False) -> CsvDialect:
    """Return how a file is written, with its rows of totals, and notes; IN: is_kept: whether they are kept."""
    ends, doubtful = _ends_in(con, dialect)
    hints = (*dialect.hints, *hints_on_ends(ends, is_kept=is_kept))
    no_rows, may_be_rows = (*dialect.no_rows, *ends), (*dialect.may_be_rows, *doubtful)
    return dialect._replace(no_rows=no_rows, may_be_rows=may_be_rows, hints=hints)


def _ends_in(con: duckdb.DuckDBPyConnection, dialect: CsvDialect) -> tuple[_Lines, _Lines]:
    """Return the rows of totals, and notes, at the end of a file, and those that may be rows, as the dialect has them.

    Other rows in which the same fields are empty and hold the same words are subtotals.
    """
    size, end = _end_of(dialect.path, dialect.compression)
    lines = end.decode(errors="replace").splitlines()
    if size <= _LAST:
        lines = lines[dialect.skip + dialect.header :]
    records = [fields for _, fields in _records(lines[-FIRST + 1 :], dialect.delimiter) if fields]
    adds_up = partial(_adds_up, con, dialect)
    found = [fields for fields in ends_of(records, len(dialect.names), adds_up) if filled_fields(fields)]
    doubtful = doubtful_ends(records, len(dialect.names))
    return tuple(map(_words_in, found)), tuple(map(_words_in, doubtful))


def _end_of(path: str, compression: str) -> tuple[int, bytes]:
    """Return the length of a text, and its last bytes; nothing of a damaged file."""
    if compression != "gzip":
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            file.seek(max(size - _LAST, 0))
            return size, file.read()
    size, end = 0, b""
    with suppress(OSError, EOFError, zlib.error), gzip.open(path) as packed:
        while block := packed.read(_BLOCK):
            size, end = size + len(block), (end + block)[-_LAST:]
        return size, end
    return 0, b""


def _words_in(fields: Sequence[str]) -> tuple[str | None, ...]:
    return tuple(None if is_plain(text) else _bare_text(text) for text in fields)


def _adds_up(con: duckdb.DuckDBPyConnection, dialect: CsvDialect, at: int, fields: Sequence[str]) -> bool:
    """Return whether a number of a row is the sum of its column, or the mean if its word, in column `at`, says so."""
    import duckdb

    is_row = f"NOT regexp_full_match(lower(trim(coalesce(c{at}, ''))), {sql_text(TOTAL)})"
    for j, decimal in [
        (j, decimal) for j, text in enumerate(fields) if any(map(str.isdigit, text)) for decimal in ".,"
    ]:
        own, other = number_in(sql_text(fields[j]), decimal), number_in(f"c{j}", decimal)
        query = f"SELECT {own}, sum({other}), count({other}) FROM {csv_relation(dialect)} WHERE {is_row}"
        try:
            number, total, n = con.execute(query).fetchall()[0]
        except duckdb.Error:
            return False  # it says what is wrong when it reads the file
        if number is not None and n and is_sum(fields[at], number, total, n):
            return True
    return False


_LAST = 1 << 16  # bytes at the end that are looked at


def _has_spaces(lines: Sequence[str], header: bool) -> bool:
    """Return whether lines have as many fields with spaces between them, at least two, one of them numbers."""
    rows = [line.split() for line in lines if line.strip()]
    if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return False
    columns = zip(*rows[header:], strict=True)
    return '"' not in "".join(lines) and any(all(map(is_double, column)) for column in columns)


def _single_spaces(path: str, compression: str, workspace: str) -> str:
    """Write the lines of a file with single spaces between fields, and return the name of the copy."""
    copy = os.path.join(workspace, "single_spaces.csv")
    with _open_text(path, compression) as file, open(copy, "w", encoding="utf-8") as out:
        out.writelines(" ".join(line.split()) + "\n" for line in file if line.strip())
    return copy


def _begins_with_data(rows: Sequence[Sequence[str | None]]) -> bool:
    """Return whether the first line is a row: numbers above numbers. Whole numbers that rise may be names."""
    if len(rows) < 2 or not all(name is not None and is_double(name) for name in rows[0]):
        return False
    names = [float(name) for name in rows[0] if name is not None]
    if all(name.is_integer() for name in names) and all(a < b for a, b in pairwise(names)):
        return False
    below = [[value for value in column if value is not None] for column in zip(*rows[1:], strict=True)]
    return all(column and all(map(is_double, column)) for column in below)


def _counts(numbers: Sequence[str]) -> bool:
    """Return whether whole numbers count up by one, as the names 0, 1, 2 do and the years of a table."""
    return all(int(b) - int(a) == 1 for a, b in pairwise(numbers))


# -------------------------------------------------------------------------------------------------------- guesses
def _sniff(
    con: duckdb.DuckDBPyConnection,
    path: str,
    compression: str,
    skip: int = 0,
    delimiter: str | None = None,
    end: str = "",
) -> tuple[str, int]:
    """Return the delimiter and the number of columns, as DuckDB guesses them; a comma and 1 if it cannot."""
    import duckdb

    fixed = "" if delimiter is None else f", delim={sql_text(delimiter)}"
    options = (
        f"{_QUOTES}, skip={skip}, comment='', header=true, compression='{compression}', {ONE_FILE}{fixed}{_ending(end)}"
    )
    try:
        guess = con.execute(f"SELECT Delimiter, Columns FROM sniff_csv({as_pattern(path)}, {options})").fetchone()
    except duckdb.InvalidInputException:
        guess = None
    if guess is None:
        return delimiter or ",", 1
    return guess[0], len(guess[1])


def _sniff_line(
    con: duckdb.DuckDBPyConnection, line: str, workspace: str, delimiter: str | None = None
) -> tuple[str, int]:
    """Return the same guess from a file that holds one line only."""
    first = os.path.join(workspace, "first_line.csv")
    with open(first, "w", encoding="utf-8", newline="") as file:
        file.write(f"{line}\n")
    return _sniff(con, first, "uncompressed", 0, delimiter)


# ------------------------------------------------------------------------------------------------------ line ends
def line_ends(path: str, compression: str, name: str) -> set[bytes]:
    """Return how the lines of a file end: LF, CRLF, CR, and ends in quotes are told apart; none if there is one kind.

    Where all ends are of one kind, those in quotes included, DuckDB needs no help.
    """
    blocks = partial(_whole_ends, path, compression, name)
    kinds = Counter[bytes]()
    for block in blocks():
        both = block.count(b"\r\n")
        kinds.update({b"\r\n": both, b"\r": block.count(b"\r") - both, b"\n": block.count(b"\n") - both})
    if sum(map(bool, kinds.values())) < 2:
        return set()
    return {end for part, is_quoted in _split_quotes(blocks()) if not is_quoted for end in _END.findall(part)}


def with_one_end(path: str, compression: str, workspace: str, name: str) -> str:
    """Write a file with LF at the end of all lines, and return the name of the copy; what is in quotes stays."""
    copy = os.path.join(workspace, "one_end.csv")
    with open(copy, "wb") as out:
        for part, is_quoted in _split_quotes(_whole_ends(path, compression, name)):
            out.write(part if is_quoted else _END.sub(b"\n", part))
    return copy


_END = re.compile(rb"\r+\n|\r|\n")
_OPENS = (b"", b",", b";", b"\t", b"|", b"\r", b"\n", b'"', b"\xbf")  # before a quote that opens; the last is a mark's


def _whole_ends(path: str, compression: str, name: str) -> Iterator[bytes]:
    """Yield the blocks of a file; none ends within CRLF."""
    held = b""
    for block in _blocks(path, compression, name):
        whole = held + block
        block = whole.rstrip(b"\r")
        held = whole[len(block) :]
        yield block
    yield held


def _split_quotes(blocks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield the text of a file in parts, with whether they are in quotes, or are quotes."""
    is_inside, before = False, b""
    for block in blocks:
        for i, part in enumerate(block.split(b'"')):
            if i > 0:
                is_inside = not is_inside and before in _OPENS
                before = b'"'
                yield before, True
            if part:
                before = part[-1:]
                yield part, is_inside


# ------------------------------------------------------------------------------------------------------ encodings
_BLOCK = 1 << 21  # bytes; DuckDB takes lines of 2,000,000 at most, and loses rows without a word near far longer ones
_MARKS = {  # the first of them that fits
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_LETTERS = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
"""Characters of UTF-8 that take several bytes; in text of another encoding, such bytes hardly ever meet."""


def encoding_of(path: str, compression: str, name: str) -> str:
    """Return the encoding of a text file: as its mark says, else UTF-8 if all of it is, else cp1252.

    Raises
    ------
    DataError
        If it is neither, or might be a damaged file of UTF-8; if a line is too long to be one; if it looks like UTF-16
        without its mark.
    """
    try:
        with _opened_as_bytes(path, compression) as file:
            first = file.read(1000)
        for mark, encoding in _MARKS.items():
            if first.startswith(mark):
                return encoding
        _refuse_utf16(first, name)
        if _can_be("utf-8", path, compression, name):
            return "utf-8"
        blocks = _blocks(path, compression, name)
        if _can_be("cp1252", path, compression, name) and not any(map(_LETTERS.search, blocks)):
            return "cp1252"
        with _opened_as_bytes(path, compression) as file:
            number = next(i for i, line in enumerate(file, 1) if not _is_text(line))
    except (OSError, EOFError, zlib.error):
        return "utf-8"  # DuckDB says what is wrong when it reads the file
    raise DataError(
        f"cannot read {name}: line {number} is not UTF-8 text, and it is not sure what else it is\n"
        "name the encoding, such as --encoding cp1252, or save the file as UTF-8"
    )


def has_encoding(name: str) -> bool:
    """Return whether Python knows an encoding of text by this name."""
    try:
        "".encode(name)
    except (LookupError, UnicodeError, ValueError):
        return False
    return True


def is_utf8(encoding: str) -> bool:
    """Return whether a name is one of UTF-8."""
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")


def utf8_copy(path: str, compression: str, encoding: str, workspace: str, name: str) -> str:
    """Write the text of a file as UTF-8, and return the name of the copy.

    Raises
    ------
    DataError
        If it is not text of that encoding.
    """
    copy = os.path.join(workspace, "utf8.csv")
    unpacked = partial(gzip.open, path) if compression == "gzip" else partial(open, path)
    try:
        opened = cast("IO[str]", unpacked(mode="rt", encoding=encoding, newline=""))
        with opened as text, open(copy, "wb") as out:
            while block := text.read(_BLOCK):
                out.write(str(block).encode())
    except (UnicodeError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"cannot read {name} as {encoding}: {getattr(error, 'reason', error)}") from None
    return copy


def _opened_as_bytes(path: str, compression: str) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path) if compression == "gzip" else open(path, "rb"))


def _blocks(path: str, compression: str, name: str) -> Iterator[bytes]:
    with _opened_as_bytes(path, compression) as file:
        while block := file.read(_BLOCK):
            if len(block) == _BLOCK and b"\n" not in block and b"\r" not in block:
                raise DataError(f"cannot read {name}: a line is longer than 2,000,000 bytes\nis it a table?")
            yield block


def _can_be(encoding: str, path: str, compression: str, name: str) -> bool:
    try:
        for _ in codecs.iterdecode(_blocks(path, compression, name), encoding):
            pass
    except UnicodeDecodeError:
        return False
    return True


def _refuse_utf16(first: bytes, name: str) -> None:
    """Raise a DataError if every other byte is a zero, or nearly so, as in letters and digits of UTF-16."""
    zeros = [first[start::2].count(0) for start in (0, 1)]
    if 4 * max(zeros) > len(first) > 0 == min(zeros):
        encoding = "utf-16-be" if zeros[0] else "utf-16-le"
        raise DataError(
            f"cannot read {name}: it looks like UTF-16 without its mark; read it with --encoding {encoding}"
        )


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
