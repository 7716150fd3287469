"""Typeset the formulas that the proofs write in plain text: ``mu_k^2 <= sqrt(d)/2 2^-32`` becomes MathML.

The pages of docs/privacy are reviewed as text, in diffs and terminals, so their formulas are written as one types
them. The site finds and draws them: `displayed` those that are indented, `typeset` those in sentences. A formula in a
sentence is the longest expression of the grammar of `formula_grammar` that starts at some word; what holds no operator,
script or Greek letter is left alone, but for single letters.
"""

from __future__ import annotations

import html
import re

from formula_grammar import BREAK, NUMBER, WORD, Part, expression, operator

LONG = 16  # characters that are never broken
SKIPPED = {"code", "pre", "script", "style", "svg", "math", "a", "h1", "h2", "h3"}

TAG = re.compile(r"(<[^>]+>)")
DISPLAY = re.compile(r"(?<=\n\n)((?: {4,}(?!python |pip |pytest ).*\n)+)(?=\n|\Z)")
CODE = re.compile(
    r"(^```.*?^```|`[^`\n]*`|<div class=.formula.*?</div>|\]\([^)]*\)|\$\$.*?\$\$|\$[^$]*\$)", re.MULTILINE | re.DOTALL
)  # what is left as it is: code, formulas that are typeset already or are TeX, and the targets of links
SCRIPT = re.compile(r"(?<=[A-Za-z')])_(?=[A-Za-z0-9{(])")
START = re.compile(r"(?<![A-Za-z0-9_.'/\\-])(?=[A-Za-z0-9(\[|])|(?<![A-Za-z0-9_.'/)\]-])-(?=[A-Za-z0-9(])")
BARE = re.compile(r"[A-Za-z](?:\s[A-Za-z])*|\d[\d.,]*(?:e-?\d+)?|\(\w\)|\[\w\]")


def displayed(markdown: str) -> str:
    """Return a page with its indented formulas as blocks of MathML, and no emphasis where a script is meant."""

    def block(found: re.Match[str]) -> str:
        lines = "\n".join(_line(line.strip()) for line in found[1].rstrip().split("\n"))
        return f'<div class="formula">\n{lines}\n</div>\n'

    parts = CODE.split(DISPLAY.sub(block, markdown))
    parts[::2] = [SCRIPT.sub(r"\\_", part) for part in parts[::2]]
    return "".join(parts)


def typeset(page: str) -> str:
    """Return the HTML of a page with the formulas of its sentences as MathML."""
    depth, parts = 0, TAG.split(page)
    for place, part in enumerate(parts):
        name = re.match(r"</?([A-Za-z0-9]+)", part) if place % 2 else None
        if name and name[1].lower() in SKIPPED and not part.endswith("/>"):
            depth += -1 if part.startswith("</") else 1
        elif not place % 2 and not depth:
            parts[place] = _sentence(html.unescape(part))
    return "".join(parts)


def formulas(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, MathML) of every formula in a sentence."""
    found, place = [], 0
    while (start := START.search(text, place)) is not None:
        place = start.start()
        part = expression(text, place)
        if part is not None and _is_formula(text, place, part):
            found.append((place, part.end, part.mathml))
            place = part.end
        else:
            skip = WORD.match(text, place) or NUMBER.match(text, place)
            place = skip.end() if skip else place + 1
    return found


def _sentence(text: str) -> str:
    made, end = [], 0
    for start, stop, mathml in formulas(text):
        pieces = mathml.split(BREAK) if stop - start > LONG else [mathml.replace(BREAK, "")]
        made.append(html.escape(text[end:start], quote=False))
        made.append(BREAK.join(f"<math><mrow>{piece}</mrow></math>" for piece in pieces))
        end = stop
    rest = html.escape(text[end:], quote=False)
    return re.sub(r"(?<=[.:)]) \[\](?=\s|$)", " ∎", "".join(made) + rest)


def _is_formula(text: str, start: int, part: Part) -> bool:
    run, after = text[start : part.end], text[part.end :]
    if re.match(r"\([ivx]+\)", run):
        return False  # the number of a case
    if re.match(r"[aAI]\s(?!\s*[-+*/=<>])", run):
        return False  # an article
    if text[start - 1 : start] in {"(", "["} and re.match(r"[)\]]", after) and BARE.fullmatch(run):
        return False  # (b)
    if re.fullmatch("[B-HJ-Zb-rt-z]", run):
        return not re.match(r"\.[a-z]", after)
    return part.strong and not BARE.fullmatch(run)


def _line(text: str) -> str:
    """Return one displayed line: words between its formulas stay words."""
    made, place = [], 0
    while place < len(text):
        part = expression(text, place, display=True)
        if part is not None:
            made.append(part.mathml)
            place = part.end
            continue
        word = re.compile(r"\s{2,}|\s|[A-Za-z]+|.").match(text, place)
        assert word is not None
        if word[0].isspace():
            made.append(f'<mspace width="{"1.5em" if len(word[0]) > 1 else "0.25em"}"/>')
        elif word[0].isalpha():
            made.append(f"<mtext>{word[0]}</mtext>")
        else:
            made.append(operator(word[0]))
        place = word.end()
    return f'<math display="block"><mrow>{"".join(made)}</mrow></math>'
