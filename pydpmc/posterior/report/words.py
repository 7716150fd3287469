"""The report's sentences: what is promised, what one record can change, what is not covered."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...rounding import upper
from ..facts import delta_of
from ..privacy_curves import attack_success, best_guess
from ..verdict import percent

if TYPE_CHECKING:
    from ...accounting import Guarantee
    from ..posterior import Posterior
    from ..verdict import Verdict

FALSE_POSITIVE_RATES = (0.001, 0.01, 0.05, 0.1)


def headline(post: Posterior) -> str:
    """Return the guarantee as a headline."""
    if not post.private:
        return "There is NO privacy guarantee"
    delta = delta_of(post)
    return f"epsilon = {upper(post.guarantee.epsilon(delta), 4)} at delta = {delta:g}, for {post.guarantee.unit}"


def in_short(post: Posterior) -> str:
    """Return what the headline means for one of those who are protected."""
    return (
        f"Even someone who knows everything else can tell two versions of {post.guarantee.unit} apart at most "
        f"{_percent(best_guess(post.guarantee))} of the time (a coin: 50 %)."
    )


def use_in_short(found: Verdict) -> str:
    """Return why the result is as useful as it is, for the box beside the promise."""
    weights = found.weights()
    return sentence(found.reason) + (f" {sentence(weights)}" if weights else "")


def sentence(text: str) -> str:
    """Return a clause as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."


def tempering(found: Verdict) -> list[str]:
    """Return what the tempering weight does to the draws, if there is one."""
    if found.w == 1.0:
        return []
    if found.w > 1.0:
        return [
            f"This is a cold posterior: the likelihood counts {found.w:.4g} times, as if every record were there so "
            "often. The draws are narrower than the posterior, and their spread is not its uncertainty."
        ]
    share = "" if found.records is None else f" Here the prior has {percent(1.0 - found.records)} of the weight."
    return [
        f"The likelihood is tempered with weight w = {found.w:.4g}, because the budget buys no more: the draws are "
        f"wider than the posterior of the full data, and the prior pulls them more.{share}"
    ]


def ledger(entry: Mapping[str, Any]) -> list[str]:
    """Return what the figure of what is left means, if the entry has it."""
    if "epsilon left after this run" not in entry:
        return []
    return [
        "Costs do not simply add up: noise of several runs composes to less than the sum of their epsilons. What is "
        "left is the largest epsilon that one more run may cost so that all runs together stay within the budget."
    ]


def promise(post: Posterior) -> list[str]:
    """Return the promise in plain words."""
    guarantee = post.guarantee
    if guarantee.void is not None:
        return [f"These results are not protected: {guarantee.void}. They must not be released as private."]
    delta, unit = delta_of(post), guarantee.unit.removeprefix("one ")
    change = {
        "replace": f"{guarantee.unit} in the data had been any other {unit}",
        "add_remove": f"{guarantee.unit} had been left out of the data, or added to it",
    }[guarantee.adjacency]
    epsilon = guarantee.epsilon(delta)
    factor = upper(math.exp(epsilon), 3) if epsilon < 700.0 else f"10^{math.ceil(epsilon / math.log(10.0))}"
    return [
        f"Everything on this page would have come out almost the same if {change}. "
        f"That holds for every {unit}, whatever it says, and against anyone who sees the results, whatever else they "
        "know; it assumes that they cannot predict the random numbers, which are those of a cipher (ChaCha20) with a "
        "key from the operating system.",
        f"Almost the same means: the chance of any outcome is at most {factor} times (e to the epsilon) what it would "
        f"have been otherwise, plus {delta:g} (delta), in both directions.",
    ]


def one_record(guarantee: Guarantee) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Return what an attacker can learn of one record: sentences, and rows of the table of attack success."""
    guess = _percent(best_guess(guarantee))
    rates = attack_success(guarantee, FALSE_POSITIVE_RATES)
    rows = [
        (f"{100 * rate:g} %", _percent(bound), f"{bound / rate:.2g} times")
        for rate, bound in zip(FALSE_POSITIVE_RATES, rates, strict=True)
    ]
    sentences = [
        f"Suppose an attacker knows everything but {guarantee.unit}, has narrowed that down to two possibilities, and "
        "sees everything on this page. If the two are equally likely beforehand, the best possible attack names the "
        f"right one in at most {guess} of cases; guessing gives 50 %.",
        "A careful attacker accuses only when the evidence is strong. The table bounds how often such an attack is "
        "right when it may be wrong at the given rate. Without any release the two rates would be equal.",
    ]
    return sentences, rows


def not_covered(post: Posterior) -> list[str]:
    """Return what the promise rests on and what it does not speak of."""
    guarantee = post.guarantee
    several = "someone with several records has several times the exposure"
    return [
        *(f"Assumed: {text}." for text in guarantee.assumptions),
        *([] if guarantee.assumptions else ["No assumption is made on whether the chains have converged."]),
        f"The promise is made to {guarantee.unit}" + (f"; {several}." if guarantee.unit == "one record" else "."),
        "The bounds, the model, the prior and the settings below were chosen without looking at the records. This the "
        "software cannot check.",
        "Other releases from the same records add to the cost; they compose.",
        "It does not promise that nothing can be learned about people like those in the data: that is what a study "
        "is for.",
        "The time the computation took, and the machine it ran on, are not covered.",
    ]


def _percent(value: float) -> str:
    text = upper(100.0 * value, 3)
    return f"{text} %"
