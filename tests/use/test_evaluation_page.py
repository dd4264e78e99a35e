"""A page of one test."""

from __future__ import annotations

import json
import re

from tests.report.test_evaluation import answers

from fedsemi.report.evaluation import facts_of
from fedsemi.use.evaluate import Evaluation
from fedsemi.use.evaluation_page import evaluation_page


def test_the_page_holds_the_numbers_and_loads_nothing() -> None:
    found = Evaluation(facts_of(answers([0, 1] * 20)), ("a.png is broken",))
    page = evaluation_page("model.onnx", "<b>labels.csv", found)
    data = re.search(r'id="data">(.*?)</script>', page, re.S)
    content = json.loads(data[1])
    assert content["evaluation"]["test"]["scores"]["num"] == 40
    assert content["about"].startswith("1 pictures or rows")
    assert "default-src 'none'" in page and "<b>labels" not in page
