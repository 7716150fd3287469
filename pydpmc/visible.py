"""Names as a page can show them: a control character in one must not move the cursor, end a line or turn text round."""

from __future__ import annotations

import html
import unicodedata

ESCAPED = ("Cc", "Cf", "Cs", "Zl", "Zp")  # controls, invisible formats, surrogates, separators of lines
JOINERS = "\u200c\u200d"  # invisible too, but Persian and emoji are spelt with them


def visible(text: str) -> str:
    r"""Return the text with every character that is not to be seen written as an escape.

    Examples
    --------
    >>> print(visible("age\n\x1b[2J"), visible("größe"))
    age\n\x1b[2J größe
    """
    if text.isprintable():
        return text
    return "".join(_escape(c) if unicodedata.category(c) in ESCAPED and c not in JOINERS else c for c in text)


def visible_html(text: str) -> str:
    """Return the text as HTML shows it: escaped, and `visible`.

    Examples
    --------
    >>> visible_html("<b>")
    '&lt;b&gt;'
    """
    return html.escape(visible(text))


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
