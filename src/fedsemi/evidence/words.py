"""What the words of the results mean, for its page, results.md and the glossary."""

from __future__ import annotations

from fedsemi.evidence.render import markdown_table

WORDS = {
    "equal shares, uniform": "every unlabeled site has the same weight; as in all "
    "methods of the averaging family labeled sites have one half together",
    "presence": "shares as by Eq. 4, from nothing but which pseudo-classes a site "
    "shows: no anchor network",
    "permuted": "SemiAnAgg's shares, dealt to the wrong sites",
    "class mass": "each class is shared out by the numbers of pseudo-labels that sites "
    "have of it",
    "labels only": "labeled sites alone, learned in one stage for as many rounds as "
    "warm-up and method together",
    "labels after the warm-up": "labeled sites alone, from the model on that methods "
    "begin with (all but CBAFed), for as many rounds as they",
    "the warm-up's model": "the one that methods begin with, the paper's lower bound",
    "weight moved": "part of the whole weight that SemiAnAgg gives to other sites than "
    "equal shares would",
    "global model, last tests": "the model of a round, scored by the mean of the "
    "last five tests, which reach back to round 18 of 30 on SVHN, 10 of 30 on MNIST "
    "and 9 of 20 on an encoder",
    "running mean": "beside the run, a model that takes 15 % of each round's global "
    "model and keeps 85 % of itself; tested with it",
    "seeds for ±0.5": "seeds with which an interval reaches half a point to each side "
    "of its middle; to lie within half a point of zero it takes about twice as many",
    "not without seed 2": "leaving out that one seed would decide what is undecided, "
    "or turn what is decided round",
    "gap closed": "(score − the warm-up's) / (all labels − the warm-up's)",
    "holder": "on MNIST an unlabeled site that has images of 5 to 9; the others have 0 "
    "to 4, the labeled site has all digits",
    "lonely site": "the holder, where there is one",
    "skew 0.5": "half of the images of every unlabeled site are of all ten digits",
    "balanced, plain": "pseudo-labels learned with balanced softmax, or not",
}


def words_table() -> str:
    """Write them as a table."""
    return markdown_table(("word", "meaning"), list(WORDS.items()))
