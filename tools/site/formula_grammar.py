"""The small grammar of formulas in plain text, and what each of its parts looks like in MathML.

An expression is terms side by side or joined by operators; a term is a primary with scripts and primes; a primary is a
number, a letter, a Greek letter by its name, a function with its argument, or expressions in brackets. Every reader
takes a text and a place in it, and returns a `Part`, or None if the text does not read so.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

NAMES = "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi psi chi omega"
CAPITALS = "Gamma Delta Theta Lambda Sigma Phi Psi Omega"
GREEK = dict(zip(f"{NAMES} {CAPITALS}".split(), "αβγδεζηθκλμνξπρστφψχωΓΔΘΛΣΦΨΩ", strict=True))
ANALYSIS = {"log", "log2", "exp", "floor", "sqrt", "sum", "integral"}
STATISTICS = {"min", "max", "sup", "inf", "mean", "popvar", "cost"}
FUNCTIONS = ANALYSIS | STATISTICS
QUANTITIES = {"sd", "dim", "clip", "room", "unit", "rate", "bits", "chains"}  # that have a name of more than one letter
SYMBOLS = {"<=": "≤", ">=": "≥", "!=": "≠", "<-": "←", "->": "→", "+-": "±", "-": "−", "*": "∗", "~": "∼", ".": "·"}
LARGE = {"sum": "∑", "integral": "∫"}
BREAK = "\N{ZERO WIDTH SPACE}"  # where a formula of a sentence may continue on the next line
CLOSING = {"(": ")", "[": "]", "|": "|", "{": "}"}

WORD = re.compile(r"[A-Za-z]+(?:[0-9](?![0-9A-Za-z]))?(?![^\W\d_])")
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?(?![A-Za-z_])|\d+(?=[A-Za-z](?![A-Za-z]))")
OPERATOR = re.compile(r"\s*(<=|>=|!=|<-|->|\+-|[-+*/=<>~]|(?<=\s)\.(?=\s[a-zA-Z(]))\s*(?=[^\s])")


@dataclass
class Part:
    """A piece of MathML, where it ends in the text, and whether it can only be mathematics."""

    mathml: str
    end: int
    strong: bool = False


def expression(text: str, place: int, *, display: bool = False, inside: bool = False) -> Part | None:
    """Read terms joined by operators or by standing side by side."""
    first = _term(text, place, display)
    if first is None:
        return None
    made, end, strong = [first.mathml], first.end, first.strong
    while end < len(text):
        joined = OPERATOR.match(text, end)
        spaces = re.compile(r"\s?").match(text, end)
        assert spaces is not None
        following = _term(text, joined.end() if joined else spaces.end(), display)
        if joined and following is not None and not _hyphen(text, joined):
            made += [operator(joined[1], infix=True), "" if display else BREAK, following.mathml]
            strong = True
        elif not joined and following is not None and _side_by_side(text, end, following, inside or display):
            made += ['<mspace width="0.17em"/>' if spaces[0] else "", following.mathml]
            strong = strong or following.strong
        else:
            break
        end = following.end
    return Part("".join(made), end, strong)


def _hyphen(text: str, joined: re.Match[str]) -> bool:
    """Tell a hyphen, as in 64-bit or n-th, from a minus."""
    return joined[0] == "-" and bool(re.match(r"[a-z]{2}|\d+-\d", text[joined.end() :]))


def _side_by_side(text: str, end: int, following: Part, inside: bool) -> bool:
    """Whether a term may multiply the one before it: an article may not."""
    word = text[end : following.end].strip()
    if re.match(r"(unit|rate|room|dim|sd)(?![A-Za-z])", word) and text[end - 1] in ")0123456789":
        return True
    if word in {"a", "A", "I", "x"} and not inside:
        return False
    return bool(re.match(r"\s?[A-Za-z0-9(|]", text[end:])) and (
        inside or following.strong or len(word) == 1 or word[0] == "("
    )


def _term(text: str, place: int, display: bool) -> Part | None:
    if text[place : place + 1] == "-" and place + 1 < len(text) and not text[place + 1].isspace():
        part = _term(text, place + 1, display)
        return part and Part(f"<mo>−</mo>{part.mathml}", part.end, part.strong)
    base = _primary(text, place, display)
    return base and _scripts(text, base, display)


def _scripts(text: str, base: Part, display: bool) -> Part:
    below = above = primes = ""
    end, strong = base.end, base.strong
    while end < len(text):
        if text[end] == "'" and re.match(r"'+(?![A-Za-z])", text[end:]):
            primes += "′"
            end += 1
        elif text[end] in "_^" and (script := _script(text, end + 1, display)) is not None:
            below, above = (script.mathml, above) if text[end] == "_" else (below, script.mathml)
            end, strong = script.end, True
        else:
            break
    raised = f'<mo lspace="0" rspace="0">{primes}</mo>' if primes else ""  # the glyph is raised already
    tag = "msubsup" if below and above else "msub" if below else "msup" if above else "mrow"
    made = f"<{tag}><mrow>{base.mathml}{raised}</mrow>{below}{above}</{tag}>"
    return Part(made.replace(BREAK, "") if below or above else f"{base.mathml}{raised}", end, strong)


def _script(text: str, place: int, display: bool) -> Part | None:
    sign = "<mo>−</mo>" if text[place : place + 1] == "-" else ""
    place += len(sign and "-")
    if text[place : place + 1] in {"(", "{"}:
        group = _group(text, place, display)
        if group is None:
            return None
        inner = group.mathml.removeprefix(operator("(")).removesuffix(operator(")"))
        return Part(f"<mrow>{sign}{inner}</mrow>", group.end)
    found = re.compile(r"\d+(?:\.\d+)?|[A-Za-z]+(?![A-Za-z_])|\*").match(text, place)
    if found is None:
        return None
    made = _named(found[0]) if found[0].isalpha() else f"<mn>{found[0]}</mn>"
    return Part(f"<mrow>{sign}{made}</mrow>", found.end())


def _group(text: str, place: int, display: bool) -> Part | None:
    """Read expressions in brackets, with commas between them."""
    opening = text[place]
    made, end, strong = [], place + 1, opening == "|"
    while True:
        spaces = re.compile(r"\s*").match(text, end)
        assert spaces is not None
        part = expression(text, spaces.end(), display=display, inside=True)
        if part is None:
            return None
        made.append(part.mathml)
        end, strong = part.end, strong or part.strong
        comma = re.compile(r"\s*([,;:])\s*").match(text, end)
        if comma is None:
            break
        made.append(f"<mo>{comma[1]}</mo>")
        strong = strong or "'" in text[place:end]
        end = comma.end()
    closing = re.compile(r"\s*" + re.escape(CLOSING[opening])).match(text, end)
    if closing is None:
        return None
    left, right = operator(opening), operator(CLOSING[opening])
    if opening == "{":
        left = right = ""
    return Part(f"{left}{''.join(made)}{right}", closing.end(), strong)


def _primary(text: str, place: int, display: bool) -> Part | None:
    if text[place : place + 1] in CLOSING and text[place : place + 1]:
        return _group(text, place, display)
    number = NUMBER.match(text, place)
    if number is not None:
        return Part(_number(number[0]), number.end())
    word = WORD.match(text, place)
    if word is None:
        return None
    after = text[word.end() : word.end() + 1]
    scripted = bool(re.match(r"'*[_^](?:[-({*]|[A-Za-z0-9]{1,4}(?![A-Za-z0-9_]))", text[word.end() :]))
    letters = word[0].rstrip("0123456789")
    if word[0] in FUNCTIONS:
        return _function(text, word, display, scripted)
    if letters in GREEK or (len(letters) == 1 and (after != "_" or scripted)):
        if re.match(r"'[A-Za-z]", text[word.end() :]):  # an apostrophe
            return None
        called = _group(text, word.end(), display) if after == "(" else None
        known = letters in GREEK or called is not None
        return Part(_named(word[0]) + (called.mathml if called else ""), called.end if called else word.end(), known)
    if word[0] in QUANTITIES or (scripted and after == "^"):
        return Part(_named(word[0]), word.end())
    return Part(f"<mtext>{word[0]}</mtext>", word.end()) if display else None


def _function(text: str, word: re.Match[str], display: bool, scripted: bool) -> Part | None:
    name, after = word[0], text[word.end() :]
    made = f"<mo>{LARGE[name]}</mo>" if name in LARGE else _named(name)
    part = _scripts(text, Part(made, word.end()), display) if scripted else Part(made, word.end())
    after = text[part.end :]
    if after.startswith("("):
        group = _group(text, part.end, display)
        if name == "sqrt" and group is not None:
            inner = group.mathml.removeprefix(operator("(")).removesuffix(operator(")"))
            return Part(f"<msqrt>{inner.replace(BREAK, '')}</msqrt>", group.end, True)
        return group and Part(part.mathml + group.mathml, group.end, True)
    if name == "sqrt" and (bare := re.match(r" ?(\d+)", after)):
        return Part(f"<msqrt><mn>{bare[1]}</mn></msqrt>", part.end + bare.end(), True)
    if (scripted or display or name.startswith("log")) and re.match(r" [A-Za-z(\[|0-9]", after):
        operand = _term(text, part.end + 1, display)
        return operand and Part(f'{part.mathml}<mspace width="0.17em"/>{operand.mathml}', operand.end, True)
    return part if scripted else None


def _number(written: str) -> str:
    number, _, exponent = written.partition("e")
    if not exponent:
        return f"<mn>{number}</mn>"
    power = f"<mo>−</mo><mn>{exponent[1:]}</mn>" if exponent[0] == "-" else f"<mn>{exponent}</mn>"
    ten = f"<msup><mn>10</mn><mrow>{power}</mrow></msup>"
    return ten if number == "1" else f"<mn>{number}</mn><mo>·</mo>{ten}"


def operator(written: str, *, infix: bool = False) -> str:
    """Return an operator or a bracket."""
    options = ' stretchy="false" lspace="0" rspace="0"' if written in "()[]|" else ""
    options += ' lspace="0" rspace="0"' if written == "/" else ""
    options += ' form="infix"' if infix else ""
    return f"<mo{options}>{html.escape(SYMBOLS.get(written, written))}</mo>"


def _named(word: str) -> str:
    letters = word.rstrip("0123456789")
    made = f"<mi>{GREEK.get(letters, letters)}</mi>"
    return f"<msub>{made}<mn>{word[len(letters) :]}</mn></msub>" if word != letters else made
