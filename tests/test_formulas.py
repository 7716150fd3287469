"""The site typesets the formulas that the proofs write in plain text."""

import importlib
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs/privacy").glob("*.md"))


def loaded():
    site = ROOT / "tools/site"
    if not site.exists():
        pytest.skip("tools/site is not here: an installed package is tested without its repository")
    sys.path.insert(0, str(site))
    try:
        return importlib.import_module("formulas")
    finally:
        sys.path.remove(str(site))


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("noise multipliers z_t = (sd_t/L)(1 - 1e-12): all", ["z_t = (sd_t/L)(1 - 1e-12)"]),
        (
            "So delta(epsilon) of that plus (1 + e^epsilon) beta is a delta.",
            ["delta(epsilon)", "(1 + e^epsilon) beta", "delta"],
        ),
        ("the ideal run is mu-GDP, in 64-bit integers", ["mu"]),
        ("public_n under add_remove; batch_size is public", []),
        ("A term, i.e. a sum. I know (b) and [p].", []),
        ("since x . u is the inner product of x and u. With it", ["x . u", "x", "u"]),
        ("|v| <= max(0, L - room)/unit, which", ["|v| <= max(0, L - room)/unit"]),
        ("Künsch, Stefanski and Carroll (1989)", []),
        ("terms (r', h', u) of a record's gradient", ["(r', h', u)"]),
        ("b_max(a) is concave, and sqrt 2 times that", ["b_max(a)", "sqrt 2"]),
    ],
)
def test_formulas_are_found_and_prose_is_not(sentence, expected):
    assert [sentence[start:end] for start, end, _ in loaded().formulas(sentence)] == expected


def test_scripts_are_kept_from_being_emphasis_and_tex_is_left_alone():
    plain = "the sums a_k and b_k of $\\theta_k$ and\n\n$$\n\\sum_i g_i(\\theta_k)\n$$\n\nand c_k"
    made = loaded().displayed(plain)
    assert made == plain.replace(" a_k", r" a\_k").replace("b_k", r"b\_k").replace("c_k", r"c\_k")


def test_scripts_roots_and_greek_letters_are_typeset():
    made = loaded().typeset("<p>sqrt(d)/2 times mu_k^2 &lt;= 2^-63 in <code>mu_k</code></p>")
    assert "<msqrt><mi>d</mi></msqrt>" in made
    assert re.search(r"<msubsup><mrow><mi>μ</mi></mrow><mrow><mi>k</mi></mrow><mrow><mn>2</mn></mrow></msubsup>", made)
    assert "≤" in made
    assert "<mo>−</mo><mn>63</mn>" in made
    assert made.endswith("in <code>mu_k</code></p>")


def test_every_page_gives_well_formed_mathml():
    site, count = loaded(), 0
    for page in PAGES:
        text = site.displayed(page.read_text(encoding="utf-8"))
        for paragraph in re.split(r"\n\n+", re.sub(r"^```.*?^```|`[^`]*`", "", text, flags=re.MULTILINE | re.DOTALL)):
            made = paragraph if "<math" in paragraph else site.typeset(paragraph.replace("<", "&lt;"))
            for formula in re.findall(r"<math.*?</math>", made, flags=re.DOTALL):
                ElementTree.fromstring(formula)
                count += 1
    assert count > 1000, "the proofs hold far more formulas"
