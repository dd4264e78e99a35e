"""Write a config that works for somebody's folders, with a reason at each setting."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from fedsemi.data.site_settings import SitesSettings, as_text
from fedsemi.data.survey import Survey, image_size


def starter_config(
    settings: SitesSettings, surveys: Sequence[Survey], place: Path
) -> str:
    """Return the text of a config for the folders, with paths relative to `place`.

    Args:
        settings: What the survey proposes.
        surveys: Of the sites, in the order of the folders.
        place: The folder in which the config will lie.
    """
    size = image_size(surveys)
    labels = ", ".join(
        f"{_text(s.name)} = {_text(_labels(settings, s))}" for s in surveys
    )
    return f"""\
# Written by `fedsemi init`. Look at the data first: fedsemi check THIS_FILE
# Then train: fedsemi run THIS_FILE

seed = 1

[data]
name = "folders"
image_size = {size}  # side of the network's input; 224 is usual on a GPU
flip = true  # mirror images at random; false if left and right differ in meaning

[sites]
# Client 0, 1, ... in this order. Paths are relative to this file.
{_list("folders", [_relative(f, place) for f in settings.folders])}
# The same list, in the same order, at every site.
{_list("classes", settings.classes)}
# "folders": a sub-folder for each class; "csv": labels.csv with file,label[,group],
# blank for unlabeled; "none": no labels.
labels = {{ {labels} }}
{_test(settings, place)}
# Keep a patient's images on one side: a column 'group' in labels.csv, or
# patient = "(P[0-9]+)_"  # the part of the path in brackets is the patient
channels = {settings.channels}  # 1 for gray, 3 for color
background = [0, 0, 0]  # shows through where pictures are transparent
{_deep(settings)}
max_bad = 0.01  # stop if more than this part of a site's files is unusable
verify = "off"  # "full" after `fedsemi check THIS_FILE --write-manifest`

[model]
name = "resnet8"  # small enough for a CPU; resnet18-cifar or -imagenet on a GPU
width = 16

[local]
batch_size = {_batch_size(surveys)}

[evaluation]
# Labels that labeled sites keep back to judge models with. Without any, the guard can
# take no model back, and there is no estimate of how right pseudo-labels are.
validation_fraction = 0.1

[guard]
enabled = true  # bounds what one faulty site can do; off, shares are the paper's

# First the sites with labels learn alone, then all of them together.
[[stages]]
method = "supervised"
rounds = 20

[[stages]]
method = "semianagg"
rounds = 40
# Where some sites lack whole classes, try this, too (docs/results.md, Q10):
# learner = {{ loss = "balanced-softmax" }}
"""


def _labels(settings: SitesSettings, survey: Survey) -> str:
    return settings.labels_of(survey.name)


def _test(settings: SitesSettings, place: Path) -> str:
    if settings.test is not None:
        return f"test = {_text(_relative(settings.test, place))}"
    return (
        "test_fraction = 0.2  # of each labeled site; or name a labeled folder:\n"
        '# test = "test-images"'
    )


def _deep(settings: SitesSettings) -> str:
    if settings.sixteen_bit_range is None:
        return "# sixteen_bit_range = [0, 4095]  # black and white of 16-bit pictures"
    low, high = settings.sixteen_bit_range
    return (
        f"sixteen_bit_range = [{low:g}, {high:g}]"
        "  # black and white of 16-bit pictures, from the largest value found"
    )


def _batch_size(surveys: Sequence[Survey]) -> int:
    smallest = min((s.num_files for s in surveys if s.num_files), default=64)
    return 64 if smallest >= 500 else 16


def _relative(folder: str, place: Path) -> str:
    return os.path.relpath(Path(folder).absolute(), place.absolute())


def _list(key: str, values: Sequence[str]) -> str:
    inner = "".join(f"  {_text(value)},\n" for value in values)
    return f"{key} = [\n{inner}]"


def _text(value: str) -> str:
    # A JSON string is a TOML string; what a reader could not see is spelled there.
    quoted = json.dumps(as_text(value), ensure_ascii=False)
    return "".join(c if c.isprintable() else _spelled(c) for c in quoted)


def _spelled(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"
