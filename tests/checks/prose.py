# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Finds the prose of a source tree: paragraphs of Markdown, comments of C++ headers, and texts in string literals.

Each function returns a list of (line, text). In a text, `CODE` stands for a code span and `X` for a value that the program
puts in.
"""

import bisect
import re

TOKEN = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)'
    r'|(?P<raw>\b(?:u8|u|U|L)?R"(?P<mark>[^\s()\\]{0,16})\((?P<body>.*?)\)(?P=mark)")'
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<char>(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+')"
    r"|(?P<skipped>\b(?:static_assert|asm|__asm__)\b[^;]*)"
    r"|(?P<keyword>\b(?:return|case|else)\b)"
    r"|(?P<words>(?:(?!(?:return|case|else|static_assert|asm|__asm__|u8R|[uUL]?R)\b)[\w.'&*!~%^-]+\s*|::\s*|[<>](?![<=])\s*)+)"
    r"|(?P<punct><<|==|!=|<=|>=|\|\||\+=|[^\s\w])",
    re.S,
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.M)
ESCAPE = re.compile(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|u[0-9a-fA-F]{4}|.)", re.S)
PLAIN_WORD = re.compile(r"^[(\"'“]*[A-Za-z][a-z'’-]*[)\"'”]*[.,;:!?]*$")


def inline(text):
    """Replaces what is no prose in a paragraph of Markdown."""
    text = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "CODE", text, flags=re.S)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", " ", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<?https?://[^\s>)]+>?", "URL", text)
    text = re.sub(r"<br\s*/?>", ".\n", text)
    return re.sub(r"\*\*|__|(?<![\w*])\*(?=\w)|(?<=\w)\*(?![\w*])", "", text)


def markdown(source):
    source = re.sub(r"<!--.*?-->", lambda match: "\n" * match.group().count("\n"), source, flags=re.S)
    found, paragraph, start, fence = [], [], 0, None

    def flush():
        if paragraph:
            found.append((start, inline(" ".join(paragraph))))
            paragraph.clear()

    in_list, after_blank = False, True
    for number, line in enumerate(source.splitlines(), 1):
        stripped = line.strip()
        mark = re.match(r"(```+|~~~+)", stripped)
        if fence is not None:
            if stripped.startswith(fence):
                fence = None
            continue
        if mark:
            flush()
            fence = mark.group(1)
            continue
        item = re.match(r"([-*+]|\d+[.)])\s+", stripped)
        if not stripped:
            flush()
        elif line.startswith("    ") and after_blank and not in_list:
            pass  # an indented block of code
        elif stripped.startswith("|"):
            flush()
            for cell in re.split(r"(?<!\\)\|", inline(stripped)):
                if re.search(r"[A-Za-z]", cell):
                    found.append((number, cell.strip()))
        else:
            if stripped.startswith("#") or item:
                flush()
            if not paragraph:
                start = number
                in_list = bool(item) or (in_list and line.startswith(" "))
            paragraph.append(re.sub(r"^(#+|>|[-*+]|\d+[.)])\s+", "", stripped))
            if stripped.startswith("#"):
                flush()
        after_blank = not stripped
    flush()
    return found


def line_finder(source):
    """A function from an offset to its line's number."""
    starts = [match.end() for match in re.finditer("\n", source)]
    return lambda offset: bisect.bisect_right(starts, offset) + 1


def comment_blocks(source):
    """Own-line and trailing comments of C++: (first line, last line, stands alone, paragraphs)."""
    blocks, line_of = [], line_finder(source)
    for match in TOKEN.finditer(source):
        if match.lastgroup != "comment":
            continue
        line = line_of(match.start())
        begin = source.rfind("\n", 0, match.start()) + 1
        alone = not source[begin : match.start()].strip()
        column = match.start() - begin
        raw = match.group()
        lines = [raw[2:]] if raw.startswith("//") else [part.lstrip(" *") for part in raw[2:-2].split("\n")]
        last = blocks[-1] if blocks else None
        # A comment goes on in the next line: of its own kind, or below a trailing one and in its column.
        if last and last["end"] == line - 1 and alone and (last["alone"] or last["column"] == column):
            last["lines"] += lines
            last["end"] = line
        else:
            blocks.append({"start": line, "end": line + len(lines) - 1, "alone": alone, "column": column, "lines": lines})
    for block in blocks:
        paragraphs, current = [], []
        for text in [*block["lines"], ""]:
            # Code and drawings are indented by three or have columns.
            is_code = text.startswith("   ") or re.search(r"\S {3,}\S", text)
            begins = re.match(r"\s*([-*+]|\d+\.)\s", text)
            if (not text.strip() or is_code or begins or "SPDX-" in text) and current:
                paragraphs.append(" ".join(current))
                current = []
            if text.strip() and not is_code and "SPDX-" not in text:
                current.append(re.sub(r"^([-*+]|\d+\.)\s+", "", text.strip()))
        block["paragraphs"] = [inline(paragraph) for paragraph in paragraphs]
    return blocks


def comments(source):
    return [(block["start"], paragraph) for block in comment_blocks(source) for paragraph in block["paragraphs"]]


NOT_FUNCTION = re.compile(
    r"^(#|struct\b|class\b|enum\b|union\b|using\b|namespace\b|typedef\b|static_assert\b|return\b|asm\b|if\b|for\b|while\b|switch\b|"
    r"public:|private:|protected:|friend\b|extern \"C\" \{|[A-Z][A-Z0-9_]+\()"
)


def declares_function(code, classes):
    """Whether a function's declaration begins here; `code` is the source below a comment, `classes` those that have constructors."""
    code = re.sub(r"^\s*(template\s*<[^{};]*?>\s*(?=[\w\[]))+", "", code)
    code = re.sub(r"\[\[[^\]]*\]\]|__attribute__\s*\(\(.*?\)\)", " ", code, flags=re.S).lstrip()
    if NOT_FUNCTION.match(code):
        return False
    head = re.split(r"[;{]", code, maxsplit=1)[0]
    before, bracket, _ = head.partition("(")
    if not bracket or re.search(r"(?<!operator)=", before):
        return False
    tokens = before.split()
    if not tokens or not re.search(r"[\w\]=*&>+-]$", before.rstrip()):
        return False
    return len(tokens) > 1 or tokens[0].lstrip("~") in classes


def function_comments(source):
    """The comments that stand directly above a function: (line of the comment, its first paragraph)."""
    lines = source.split("\n")
    classes = set(re.findall(r"\b(?:class|struct)\s+(?:\w+\(.*?\)\s+)?(\w+)", source))
    found = []
    for block in comment_blocks(source):
        below = "\n".join(lines[block["end"] : block["end"] + 12])
        is_heading = bool(re.fullmatch(r"[\w/]+\.(cc|h)\W*", " ".join(block["paragraphs"])))
        if block["alone"] and block["paragraphs"] and not is_heading and declares_function(below, classes):
            found.append((block["start"], block["paragraphs"][0]))
    return found


def unescape(match):
    code = match.group(1)
    if code == "n":
        return "\n"
    if code in "\"'\\?":
        return code
    return " " if code in "tr" else "\N{MIDDLE DOT}"


class Pieces:
    """Literals within one expression that become one text."""

    def __init__(self):
        self.clear()

    def clear(self):
        self.text, self.line, self.value, self.joined = None, 0, False, False

    def add(self, text, line):
        if self.text is None:
            self.text, self.line = ("X" if self.value and self.joined else "") + text, line
        else:
            self.text += ("X" if self.value else "") + text
        self.value = self.joined = False


def literals(source):
    """All texts in string literals. Adjacent literals, and literals with values added between them, are one text."""
    source = DIRECTIVE.sub(lambda match: "\n" * match.group().count("\n"), source)
    found, stack, line_of = [], [Pieces()], line_finder(source)

    def flush(pieces):
        if pieces.text is not None:
            found.append((pieces.line, pieces.text + ("X" if pieces.value and pieces.joined else "")))
        pieces.clear()

    for match in TOKEN.finditer(source):
        kind, text, top = match.lastgroup, match.group(), stack[-1]
        if kind in ("comment", "skipped"):
            continue
        if kind == "raw":
            top.add(match.group("body"), line_of(match.start()))
        elif kind == "string":
            top.add(ESCAPE.sub(unescape, text[1:-1]), line_of(match.start()))
        elif kind == "words":
            if "&&" in text:
                flush(top)
            top.value = True
        elif text in ("+", "<<", "+="):
            if text == "+=":
                flush(top)
            top.joined = True
        elif text in "([{":
            stack.append(Pieces())
        elif text in ")]}":
            flush(top)
            if len(stack) > 1:
                stack.pop()
            if text == "}":
                flush(stack[-1])
            else:
                stack[-1].value = True
        elif text in (",", ";", "?", ":", "=", "return", "case", "else", "||"):
            flush(top)
    while stack:
        flush(stack.pop())
    return found


def is_prose(text):
    """Three plain words at least, and more of them than of anything else."""
    tokens = [token for token in text.split() if re.search(r"[A-Za-z]", token)]
    plain = sum(1 for token in tokens if PLAIN_WORD.match(token) and token != "X")
    return plain >= 3 and 2 * plain >= len(tokens)


def messages(source):
    """String literals that a person reads, a line of output each."""
    found = []
    for line, text in literals(source):
        for part in re.split(r"\n\s*\n|\n(?=\s)|\n(?=[A-Z-])|\n$", text):
            if is_prose(part):
                found.append((line, " ".join(part.split())))
    return found
