// The cluster of each row of a file of CSV, as `boxwood predict` gives it. This function runs in a worker, behind the
// rules, which it takes: it reads a file as it comes, and answers with a file and with counts.
const labeller = (cluster, whyNone) => {
  const FIRST = 200, SAMPLE = 1000, LAST = 1 << 16, FEWEST = 10, MANY = 4, MOST_TITLES = 20, MOST_ENDS = 6;
  class Refused extends Error {}
  let asked;  // of the page: the rules' columns, the words and patterns by which files are read, the day of ages
  const whole = {};  // the patterns, each of a whole text

  // ---------------------------------------------------------------- bytes, characters, records
  const decoded = async (blob, take, encoding, fatal = false) => {
    const decoder = new TextDecoder(encoding, {fatal}), reader = blob.stream().getReader();
    for (let read = 0; ;) {
      const {value, done} = await reader.read();
      const text = done ? decoder.decode() : decoder.decode(value, {stream: true});
      read += done ? 0 : value.length;
      if (take(text, done, read) === false || done) return reader.cancel();
    }
  };
  const encodingOf = async blob => {
    const mark = [...new Uint8Array(await blob.slice(0, 2).arrayBuffer())].join();
    if (mark === "255,254" || mark === "254,255") return mark === "255,254" ? "utf-16le" : "utf-16be";
    try {
      await decoded(blob, () => true, "utf-8", true);
      return "utf-8";
    } catch {
      // Bytes as letters of UTF-8 have them hardly ever meet in another text: it is one of UTF-8, and damaged.
      const letters = /[\uf7c2-\uf7df][\uf780-\uf7bf]|[\uf7e0-\uf7ef][\uf780-\uf7bf]{2}/;
      await decoded(blob, text => { if (letters.test(text)) throw new Refused("it is neither text of UTF-8 nor of Windows; save it as UTF-8"); }, "x-user-defined");
      return "windows-1252";
    }
  };

  // The fields of a record with quotes, and where it ends; null if its end is not there yet.
  const quotedRecord = (text, at, delimiter, isLast) => {
    const fields = [];
    for (;;) {
      let value = "";
      if (text[at] === '"') {
        for (at += 1; ;) {
          const quote = text.indexOf('"', at);
          if (quote < 0 || (quote + 1 === text.length && !isLast)) {
            if (isLast) throw new Refused("a value in quotes has no end");
            return null;
          }
          value += text.slice(at, quote);
          at = quote + 1;
          if (text[at] !== '"') break;
          value += '"';
          at += 1;
        }
      } else {
        const start = at;
        while (at < text.length && text[at] !== delimiter && text[at] !== "\n" && text[at] !== "\r") at += 1;
        if (at === text.length && !isLast) return null;
        value = text.slice(start, at);
      }
      fields.push(value);
      if (text[at] === delimiter) { at += 1; continue; }
      if (at < text.length && text[at] !== "\n" && text[at] !== "\r") throw new Refused("a value in quotes goes on behind them");
      return [fields, at];
    }
  };
  // Takes a text in parts; gives (fields, the record as it is written, how its line ends) to `take`, until that is false.
  const records = (delimiter, take) => {
    const ends = /\r*\n|\r/g;
    let rest = "";
    return (part, isLast) => {
      const text = rest + part;
      let at = 0;
      while (at < text.length) {
        const start = at;
        ends.lastIndex = at;
        let end = ends.exec(text), fields;
        if (end === null && !isLast) break;
        if (end !== null && !isLast && /^\r+$/.test(text.slice(end.index))) break;  // half of an end, perhaps
        at = end === null ? text.length : end.index;
        const line = text.slice(start, at);
        if (delimiter === " " && !line.includes('"')) fields = line.trim() ? line.trim().split(/\s+/) : [""];
        else if (!line.includes('"')) fields = line.split(delimiter);
        else {
          const found = quotedRecord(text, start, delimiter, isLast);
          if (found === null) { at = start; break; }
          [fields, at] = found;
          ends.lastIndex = at;
          end = ends.exec(text);
          if (end === null && !isLast) { at = start; break; }
        }
        const raw = text.slice(start, at), stop = end === null ? "" : end[0];
        at += stop.length;
        if (take(fields, raw, stop) === false) return false;
      }
      rest = text.slice(at);
      return true;
    };
  };

  // ---------------------------------------------------------------- values as people write them
  const trimmed = text => text.replace(/^ +| +$/g, "");
  const low = text => trimmed(text).toLowerCase();
  const normal = text => low(text.replace(/[\u2212\u00a0\u202f\u2009\u2019]/g, sign => ({"\u2212": "-", "\u2019": "'"})[sign] ?? " "));
  const PLAIN = /^[ \t\n\v\f\r]*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?[ \t\n\v\f\r]*$/i;
  const NAMED = /^[ \t\n\v\f\r]*([-+]?)(inf|infinity|nan)[ \t\n\v\f\r]*$/i;
  const plainNumber = text => {
    if (PLAIN.test(text)) return Number(text);
    const found = NAMED.exec(text);
    return found === null ? null : found[2].toLowerCase() === "nan" ? NaN : found[1] === "-" ? -Infinity : Infinity;
  };
  // The number in a text with a decimal point or comma, currencies and groups of thousands; null if there is none.
  const numberIn = (text, decimal) => {
    if (!text.includes(decimal === "." ? "," : ".")) {
      const plain = plainNumber(decimal === "." ? text : text.replaceAll(decimal, "."));
      if (plain !== null) return plain;
    }
    const written = normal(text);
    if (!whole["number" + decimal].test(written)) return null;
    const digits = written.replaceAll("(", "-").replace(decimal === "." ? /[a-z]{2,}|[^-+0-9e.]/g : /[a-z]{2,}|[^-+0-9e,]/g, "");
    return plainNumber(digits.replace(",", "."));
  };
  const isMark = text => asked.marks.includes(low(text)), isBlank = text => isMark(text) || asked.blanks.includes(low(text));
  const isPlain = text => {
    const value = text.trim();
    return value.length <= 40 && (asked.plainWords.includes(value.toLowerCase()) || whole.plain.test(value));
  };

  // What all values of a column say of how they are written.
  class Facts {
    constructor() {
      Object.assign(this, {readable: true, point: true, comma: true, parted: false, signs: new Set(), pairs: asked.pairs.map(() => true)});
    }
    add(text) {
      const plain = text === "" ? null : plainNumber(text), isTruth = /^ *(true|false) *$/i.test(text);
      if (text === "" || Number.isNaN(plain) || (plain === null && !isTruth && isBlank(text))) return;
      const dot = numberIn(text, "."), comma = numberIn(text, ",");
      this.readable &&= dot !== null || comma !== null;
      this.point &&= dot !== null;
      this.comma &&= comma !== null;
      this.parted ||= text.includes(".") || text.includes(",");
      asked.pairs.forEach((pair, i) => { this.pairs[i] &&= pair.includes(normal(text)); });
      if (dot !== null || comma !== null) this.signs.add(text.toLowerCase().replace(/[0-9.,]e[-+0-9]|[^\p{Sc}%a-z]/gu, ""));
    }
    get doubt() {
      if (!this.readable) return null;
      const signs = [...this.signs], some = signs.filter(sign => sign);
      if (signs.some(sign => (sign.match(/[a-z]+|./gu) ?? []).length > 1) || some.length > 1 || (this.signs.has("") && this.signs.has("%"))) {
        return "different signs";
      }
      if (this.point && this.comma) return this.parted ? "a sign that may part thousands or decimals" : "";
      return this.point || this.comma ? "" : "points and commas in more than one role";
    }
    get style() {
      const words = asked.pairs.find((pair, i) => this.pairs[i]);
      if (words) return {words};
      return this.doubt === "" ? {decimal: this.point ? "." : ","} : null;
    }
  }

  const timeOf = (text, forms) => forms.map(([form, pattern]) => timeIn(text, form, new RegExp(`^${pattern}$`))).find(time => !Number.isNaN(time));
  // From a text, the value that the rules take, null for a missing one; undefined for a text that cannot be read.
  const readerOf = ({kind, known, forms}, style) => {
    const truths = new Map(asked.truths);
    const place = (text, [yes, no]) => (text === yes ? 1 : text === no ? 0 : null);
    const truth = text => place(low(text), ["true", "false"]);
    const number = text => {
      const found = style === null ? plainNumber(text) : style.words ? place(normal(text), style.words) : numberIn(text, style.decimal);
      return found === null ? truth(text) : Number.isNaN(found) ? null : found;
    };
    const isMissing = (text, found) => text === "" || (found === null && isBlank(text));
    if (kind === "words") return text => (text !== "" && (known.includes(text) || !isMark(text)) ? text : null);
    if (kind === "truths") return text => {
      const found = text === "" ? null : truths.get(normal(text)) ?? truth(text);
      return isMissing(text, found) ? null : found ?? text;
    };
    if (kind === "dates") return text => {
      const bare = text.replace(/^[ \t\n\r\f\v\u00a0]+|[ \t\n\r\f\v\u00a0]+$/g, "");
      if (timeOf(bare, forms) !== undefined) return bare;
      return text === "" || isBlank(text) ? null : undefined;
    };
    return text => {
      const found = text === "" ? null : number(text);
      if (found !== null || isMissing(text, found)) return found;
      return kind === "numbers" ? undefined : text;  // a category that was never seen
    };
  };

  // Why the table had no such value, from a value that was read; an empty text if it may have had it.
  const oddityOf = ({name, kind, known, forms, ends, origin, gaps, open}) => {
    const [low, high] = ends ?? [], later = origin === undefined || !asked.asOf ? 0 : Date.parse(asked.asOf) / 864e5 - Math.floor(origin);
    const told = end => (kind === "dates" ? new Date((end + later) * 864e5).toISOString().slice(0, 10) : end);
    const [below, above] = kind === "dates" ? ["before", "after"] : ["below", "above"];
    return value => {
      if (value === null) return gaps ? "" : `${name} is missing`;
      if (kind === "words") return open || known.includes(value) ? "" : `${name} was never seen`;
      if (!ends) return "";
      const x = kind === "dates" ? timeOf(value, forms) / 864e5 - later : value;
      return x < low ? `${name} is ${below} ${told(low)}` : x > high ? `${name} is ${above} ${told(high)}` : "";
    };
  };

  // ---------------------------------------------------------------- lines that are no rows, as `table.heads` tells them
  const filled = fields => fields.filter(text => text.trim());
  const beginsAsTotal = fields => filled(fields).slice(0, 1).some(text => whole.total.test(text.trim()));
  const told = (fields, rows) => {
    const found = {plain: [], closed: 0, open: 0};
    for (const [j, text] of fields.entries()) {
      if (isBlank(text.trim())) continue;
      const values = rows.map(row => row[j]).filter(value => !isBlank(value.trim()));
      if (values.includes(text)) {
        if (values.every(value => value === values[0])) continue;
        return null;
      }
      const counts = new Map();
      values.forEach(value => counts.set(value, (counts.get(value) ?? 0) + 1));
      if (values.length >= FEWEST && values.every(isPlain)) {
        if (isPlain(text.trim().replace(whole.beside, ""))) return null;
        found.plain.push(text);
      } else if (values.length >= FEWEST && Math.min(...counts.values()) > 1) found.closed += 1;
      else found.open += values.length ? 1 : 0;
    }
    return found;
  };
  const isTold = (fields, rows, nTexts = 2) => {
    const found = told(fields, rows);
    return found !== null && (found.plain.length >= nTexts || found.plain.length + found.closed >= MANY);
  };
  const formOf = text => text.trim().replace(/\p{L}+/gu, "a").replace(/\p{Nd}+/gu, "9");
  const isLike = (fields, rows) => fields.some((text, j) => /\p{Nd}/u.test(text) && rows.some(row => formOf(row[j]) === formOf(text)));
  const isDescription = (fields, rows) => {
    const found = told(fields, rows);
    if (found === null || isLike(fields, rows)) return false;
    const nTexts = new Set(found.plain).size;
    if (nTexts === 1 && filled(fields).length === 1) {
      return fields.length > 2 && !beginsAsTotal(fields) && rows.every(row => filled(row).length > 1);
    }
    return (nTexts >= 2 && found.open === 0) || nTexts + found.closed >= MANY;
  };
  // The number of lines below the names of columns that describe these; `isSure` asks that they can be no rows.
  const descriptions = (first, at, isSure) => {
    const width = first[at].length, above = first.slice(0, at), hasTitle = above.some(fields => filled(fields).length);
    const beside = above.filter(fields => fields.length === width && filled(fields).length > 2);
    for (const n of [2, 1]) {
      const rows = first.slice(at + 1 + n).filter(fields => fields.length > 1), below = first.slice(at + 1, at + 1 + n);
      const others = rows.filter(fields => !beginsAsTotal(fields));
      if (others.length && [...rows, ...below].every(fields => fields.length === width)
        && below.every(fields => isDescription(fields, others) || (!isSure && isTold(fields, others)))
        && isTold(first[at], others, hasTitle ? 1 : 2) && beside.every(fields => isTold(fields, others))
        && !(hasTitle && isLike(first[at], others))) return n;
    }
    return 0;
  };
  const isOfNumbers = (j, rows) => {
    const values = rows.map(row => row[j]).filter(value => !isBlank(value.trim()));
    return values.length >= FEWEST && values.every(isPlain);
  };
  const isSentence = text => (text.match(/\p{L}{2,}/gu) ?? []).length >= 3 || whole.sentence.test(text);
  const isNote = (fields, above, others, isSure) => {
    const text = fields[0].trim();
    return text !== "" && filled(fields).length === 1 && !isPlain(text) && (!isSure || isSentence(text))
      && isOfNumbers(0, others.slice(1)) && above.slice(1).every(row => filled(row).length > 1);
  };
  // Rows at the end of a table that are totals and notes, and those that may be such; `addsUp` may read the file.
  const endsOf = async (last, width, addsUp) => {
    const first = Math.max(last.length - MOST_ENDS, 0), above = last.slice(0, first), sure = [];
    const others = last.filter(fields => fields.length === width && !beginsAsTotal(fields) && filled(fields).length > 1);
    const isTotal = async fields => {
      const empty = [...fields.keys()].filter(j => !fields[j].trim()), at = fields.findIndex(text => text.trim());
      if (!(beginsAsTotal(fields) && empty.length && /\p{Nd}/u.test(fields.join("")))) return false;
      if (!others.every(row => empty.some(j => row[j].trim()))) return false;
      return (2 * empty.length >= width && isOfNumbers(at, others.slice(1))) || addsUp(at, fields);
    };
    for (const fields of last.slice(first).reverse()) {
      if (filled(fields).length && (fields.length !== width || !(await isTotal(fields) || isNote(fields, above, others, true)))) break;
      if (filled(fields).length) sure.push(fields);
    }
    const may = last.slice(first).filter(fields => fields.length === width
      && isNote(fields, above, others, false) && !isNote(fields, above, others, true));
    return [sure, may];
  };
  const bare = text => text.replace(/[ \t\r\n]+/g, " ").replace(/^ +| +$/g, "");
  // Whether a record has the words of one of some lines, at the same places; null stands for anything.
  const isOneOf = lines => fields => lines.some(line => line.every((word, j) => word === null || bare(fields[j]) === word));

  // ---------------------------------------------------------------- a file
  const named = (names, taken = new Set()) => names.map((name, i) => {
    const stem = name || `column ${i + 1}`;
    let choice = stem;
    for (let number = 1; taken.has(choice); number += 1) choice = `${stem}_${number}`;
    taken.add(choice);
    return choice;
  });
  // How the first lines part fields, where the names of the columns stand, and which these are.
  const headOf = (text, isAll) => {
    for (const delimiter of [",", ";", "\t", "|", " "]) {
      const first = [];
      try {
        records(delimiter, fields => first.push(fields) < FIRST)(text, isAll);
      } catch { /* of a line further down: what is wrong is said when the file is read */ }
      const has = fields => { const names = named(fields); return asked.columns.every(({name}) => names.includes(name)); };
      const at = first.slice(0, MOST_TITLES).findIndex(has);
      if (at >= 0) return {delimiter, at, first: isAll || first.length < FIRST ? first : first.slice(0, -1), names: named(first[at])};
      if (asked.columns.every(({name}) => /^column [0-9]+$/.test(name)) && has(first[0]?.map(() => "") ?? [])) {
        return {delimiter, at: -1, first, names: named(first[0].map(() => ""))};
      }
    }
    const absent = asked.columns.map(({name}) => name);
    throw new Refused(`the first lines do not name the columns that the rules need: ${absent.join(", ")}`);
  };
  const quoted = (text, delimiter) =>
    (text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  const label = async given => {
    const blob = /\.gz$/i.test(given.name) ? await new Response(given.stream().pipeThrough(new DecompressionStream("gzip"))).blob() : given;
    if (blob.size === 0) throw new Refused("it is empty");
    const encoding = await encodingOf(blob);
    let opening = "";
    await decoded(blob, text => { opening += text; return opening.length < 1 << 20; }, encoding);
    const {delimiter, at, first, names} = headOf(opening, opening.length < 1 << 20);
    const width = names.length, places = asked.columns.map(({name}) => names.indexOf(name));
    let passes = 2, pass = 0, heading = names.map(name => quoted(name, delimiter)).join(delimiter);
    const tell = message => self.postMessage(message);
    // Each record below the names, with its number among the rows; blank lines are none.
    const each = async take => {
      let n = -1, row = 0, reads = 0, told = 0;
      const read = records(delimiter, (fields, raw, end) => {
        n += 1;
        if (n === at) heading = raw;
        if (n <= at) return true;
        if (raw === "" && width > 1) return true;
        if (fields.length !== width) {
          const counted = `${fields.length} field${fields.length === 1 ? "" : "s"}`;
          throw new Refused(`row ${row + 1} has ${counted}, the line of names has ${width}`);
        }
        row += 1;
        return take(fields, raw, end, row);
      });
      await decoded(blob, (text, done, bytes) => {
        const goesOn = read(text, done);
        reads = (pass + bytes / blob.size) / passes;
        if (reads - told > 0.01) { told = reads; tell({share: reads}); }
        return goesOn;
      }, encoding, encoding === "utf-8");
      pass += 1;
    };

    // Lines that are no rows: descriptions below the names, totals and notes at the end.
    const nSure = at < 0 ? 0 : descriptions(first, at, true), nTold = at < 0 ? 0 : descriptions(first, at, false);
    const below = n => first.slice(at + 1, at + 1 + n).map(fields => fields.map(bare));
    let tail = "";
    const cut = Math.max(blob.size - LAST, 0);
    await decoded(blob.slice(cut - (encoding.startsWith("utf-16") ? cut % 2 : 0)), text => { tail += text; }, encoding);
    const lines = [];
    try {
      records(delimiter, (fields, raw) => { lines.push(raw === "" ? [] : fields); })(tail, true);
    } catch { /* the beginning is cut off; what is wrong is said when the file is read */ }
    const last = lines.slice(cut === 0 ? at + 1 : 0).slice(-FIRST + 1).filter(fields => fields.length);
    const addsUp = async (place, fields) => {
      for (const [j, text] of fields.entries()) {
        for (const decimal of /\p{Nd}/u.test(text) ? ".," : "") {
          let total = 0, n = 0;
          await each(row => {
            const number = whole.total.test(low(row[place])) ? null : numberIn(row[j], decimal);
            if (number !== null && !Number.isNaN(number)) { total += number; n += 1; }
          });
          const own = numberIn(text, decimal), isMean = whole.mean.test(fields[place].trim());
          const [other, most] = isMean ? [total / n, 0.01] : [total, 0.001];
          if (own !== null && n > 1 && Math.abs(own - other) <= most * Math.max(Math.abs(own), Math.abs(other))) return true;
        }
      }
      return false;
    };
    const [ends, mayEnd] = await endsOf(last, width, addsUp);
    const words = lines => lines.map(fields => fields.map(text => (isPlain(text) ? null : bare(text))));
    const noRows = [...below(nSure), ...words(ends)], mayBe = [...below(nTold).slice(nSure), ...words(mayEnd)];
    const isNoRow = isOneOf(noRows), mayBeNone = isOneOf(mayBe);
    pass = 0;

    // A first pass tells which columns are not written plainly, and a second one how they are.
    let styles = asked.columns.map(() => null);
    const facts = new Map(), sample = [], firstBad = [], nRead = asked.columns.map(() => 0);
    let readers = asked.columns.map(column => readerOf(column, null));
    await each((fields, raw, end, row) => {
      if ((noRows.length && isNoRow(fields)) || (mayBe.length && mayBeNone(fields))) return;
      if (sample.length < SAMPLE) sample.push(fields);
      readers.forEach((read, i) => {
        const value = read(fields[places[i]]);
        if (value !== null) nRead[i] += value === undefined ? -1 : 1;
        if (value === undefined || (asked.columns[i].kind === "codes" && typeof value === "string")) firstBad[i] ??= [row, fields[places[i]]];
      });
    });
    const odd = asked.columns.flatMap(({kind}, i) => (firstBad[i] && kind !== "dates" ? [i] : []));
    if (odd.length) {
      passes = 3;
      odd.forEach(i => facts.set(i, new Facts()));
      await each(fields => {
        if ((noRows.length && isNoRow(fields)) || (mayBe.length && mayBeNone(fields))) return;
        odd.forEach(i => facts.get(i).add(fields[places[i]]));
      });
      odd.forEach(i => { styles[i] = facts.get(i).style; });
      readers = asked.columns.map((column, i) => readerOf(column, styles[i]));
    }
    asked.columns.forEach(({name, kind}, i) => {
      if (!firstBad[i] || kind === "codes" || (kind === "numbers" && styles[i] !== null)) return;
      if (kind === "dates" && nRead[i] >= 0) return;  // where most are dates, others are single mistakes
      const doubt = facts.get(i)?.doubt, must = kind === "dates" ? `dates such as ${asked.columns[i].example}` : "numbers";
      const why = doubt ? `; they look like numbers with ${doubt}` : "";
      throw new Refused(`column ${name} must be ${must}, but has “${firstBad[i][1].slice(0, 40)}” in row ${firstBad[i][0]}${why}`);
    });
    // Points of a column may part thousands where another one has decimal commas.
    asked.columns.forEach(({name, kind}, i) => {
      const pointed = sample.map(fields => fields[places[i]]).filter(text => text.includes("."));
      if (kind !== "numbers" || styles[i] !== null || !pointed.length || !pointed.every(text => whole.parted.test(text))) return;
      const isComma = names.some((_, j) => {
        const found = new Facts();
        if (!places.includes(j) || styles[places.indexOf(j)] !== null) sample.forEach(fields => found.add(fields[j]));
        return found.style?.decimal === ",";
      });
      if (isComma) throw new Refused(`column ${name} has numbers such as ${pointed[0]}, whose point may part thousands or decimals`);
    });

    // The last pass writes each row with its cluster.
    const parts = [], reasons = new Map(), sizes = new Map();
    let text = encoding === "utf-8" && (await blob.slice(0, 3).text()).startsWith("\ufeff") ? "\ufeff" : "", n = 0, isNamed = false;
    const answer = named([asked.column], new Set(names.map(name => name.toLowerCase())))[0];
    const line = (raw, end, ...values) => [raw, ...values.map(value => quoted(value, delimiter))].join(delimiter) + (end || "\n");
    // Rows in which the column of clusters, if the file has it, says another one than the rules, or a label of none.
    const own = names.indexOf(asked.label), exceptions = [line(heading, "", answer)];
    // programs write True and 1.0 where others write true and 1
    const labelOf = text => (plainNumber(text) === null ? text.replace(/^(true|false)$/i, low) : String(plainNumber(text)));
    const told = new Map([...asked.told.map(([cell, name]) => [labelOf(cell), name]), ...asked.told]);
    let others = 0, strangers = 0;
    const write = (raw, end, value) => {
      text += line(raw, end, value);
      if (text.length > 1 << 20) { parts.push(new Blob([text])); text = ""; }
    };
    // Rows with values that the table did not have, and what these are.
    const oddity = asked.columns.map(oddityOf), oddities = new Map();
    const oddRows = [line(heading, "", answer, named(["odd"], new Set([...names, answer].map(name => name.toLowerCase())))[0])];
    const lineOfNames = end => { write(heading, end, answer); isNamed = true; };
    const row = Object.create(null), texts = new Map(asked.clusters);
    await each((fields, raw, end) => {
      if (!isNamed) lineOfNames(end);
      n += 1;
      const isNone = noRows.length && isNoRow(fields), isDoubtful = mayBe.length && mayBeNone(fields);
      let found = null, why = "no row, but a total, a note or a description";
      const unlike = new Set();
      if (!isNone) {
        let hasText = false, noDate = null;
        readers.forEach((read, i) => {
          const value = read(fields[places[i]]);
          if (value === undefined) {
            hasText = true;
            noDate ??= [asked.columns[i].name, `is no date such as ${asked.columns[i].example}`];
          }
          row[asked.columns[i].name] = value ?? null;
          if (value !== undefined) unlike.add(oddity[i](value));
        });
        if (!(isDoubtful && hasText)) {
          found = noDate ? null : cluster(row, asked.asOf);
          if (found === null) why = noDate ?? whyNone(row, asked.asOf);
        }
      }
      const isRow = found !== null || typeof why !== "string";
      if (found === null) {
        const reason = isRow ? `${why[0]} ${{missing: "is missing", "never seen": "was never seen"}[why[1]] ?? why[1]}` : why;
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
        if (isRow) unlike.add(reason);
        else unlike.clear();
      } else sizes.set(found, (sizes.get(found) ?? 0) + 1);
      const written = [delimiter === " " ? raw.trimEnd() : raw, end, found === null ? "" : texts.get(found)];
      write(...written);
      const said = bare(fields[own] ?? ""), name = told.get(said) ?? told.get(labelOf(said));
      const isStranger = isRow && name === undefined && !isMark(said), isOther = found !== null && (name ?? found) !== found;
      strangers += isStranger;
      others += isOther;
      if (isStranger || isOther) exceptions.push(line(...written));
      unlike.delete("");
      unlike.forEach(what => oddities.set(what, (oddities.get(what) ?? 0) + 1));
      if (unlike.size) oddRows.push(line(...written, [...unlike].join("; ")));
    });
    if (!isNamed) lineOfNames("\n");
    parts.push(new Blob([text]));
    const byCluster = asked.clusters.map(([name]) => sizes.get(name) ?? 0);
    tell({file: new Blob(parts, {type: "text/csv"}), rows: n, reasons: [...reasons], byCluster, column: answer, others: own < 0 ? null : others, strangers, exceptions: new Blob(exceptions, {type: "text/csv"}), oddities: [...oddities], nOdd: oddRows.length - 1, odd: new Blob(oddRows, {type: "text/csv"})});
  };

  self.onmessage = async ({data}) => {
    asked = data.asked;
    Object.entries(asked.patterns).forEach(([name, [pattern, flags]]) => { whole[name] = new RegExp(pattern, flags); });
    try {
      await label(data.file);
    } catch (error) {
      self.postMessage({error: error instanceof Refused || error instanceof TypeError ? error.message : String(error)});
    }
  };
};
