"""Nothing of what a person was asked leaves a site but how many labels it has."""

from __future__ import annotations

from fedsemi.asking.asker import Asker
from fedsemi.asking.desk import Desk
from fedsemi.asking.queue import FILE
from fedsemi.client.wire import check_declared, fields_of
from fedsemi.data.client import Client
from fedsemi.data.folder import SiteData, read_site
from fedsemi.data.site_settings import SitesSettings
from fedsemi.messages import Update
from fedsemi.methods.semianagg import SemiAnAgg
from fedsemi.models import ModelSpec
from fedsemi.objectives.workbench import LocalTraining, Setup
from fedsemi.runs.model_card import ModelCard


def read(desk: Desk) -> SiteData:
    """Read the site's folder as `fedsemi run` and `fedsemi pack` do."""
    shelf = desk.shelf
    settings = SitesSettings([str(shelf.folder)], list(shelf.classes))
    return read_site(shelf.folder, settings, 10)


def answer_of(client: Client, card: ModelCard) -> Update:
    """Let the site answer one round, and check that nothing undeclared is in it."""
    spec = ModelSpec("resnet8", len(card.class_names), width=2, image_size=8)
    views = card.views.__class__(8, 10, (0.5,) * 3, (0.25,) * 3)
    method = SemiAnAgg(Setup(spec, views, LocalTraining(batch_size=8)))
    state = method.init(spec.build(1).state_dict(), [client.info])
    (task,) = method.plan(state)
    update, _ = method.train(task, client, {})
    check_declared(method, task, update, len(card.class_names))
    return update


def test_a_coordinator_sees_how_many_labels_there_are_and_no_more(
    desk: Desk, asker: Asker
) -> None:
    before = answer_of(read(desk).divided(0)[0], asker.card)
    for row in range(4):
        desk.answer(row, row)
    desk.skip(4)
    after = answer_of(read(desk).divided(0)[0], asker.card)

    # The same fields of the same sizes; of the counts, the labels are four more.
    assert list(fields_of(after)) == list(fields_of(before))
    assert (before.num_labeled, before.num_unlabeled) == (0, 12)
    assert (after.num_labeled, after.num_unlabeled) == (4, 8)
    assert after.statistics.keys() == before.statistics.keys()
    assert after.metrics.keys() == before.metrics.keys()


def test_the_queue_is_no_part_of_what_a_site_reads_as_its_data(
    desk: Desk,
) -> None:
    assert (desk.shelf.folder / FILE).exists()
    site = read(desk)
    assert not any("fedsemi-ask" in name for name in site.files)
    assert site.notes == ()
    assert site.left_out == ()
