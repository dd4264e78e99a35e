"""A head that learns labels while the encoder learns without them ("FedCLR").

It reads features behind a stop-gradient, so labels never touch the encoder. Only labels
that a client has are used: the published curves used those of all clients, which here
needs a partition in which all clients are labeled.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fedsemi.data.client import Client
from fedsemi.models import Classifier


def pooled(client: Client) -> Client:
    """Take all images of a client as unlabeled, the labeled ones first."""
    images = torch.cat([client.labeled_images, client.unlabeled_images])
    nothing = client.labeled_images[:0]
    return Client(client.id, nothing, client.labels[:0], images)


class OnlineHead(nn.Module):
    """The loss of the classifier's head on detached features of labeled samples.

    Args:
        labels: Of the first samples of a pooled client; the rest has none.
    """

    def __init__(self, labels: Tensor) -> None:
        super().__init__()
        self._labels = labels
        self._right, self._seen = 0, 0

    def forward(
        self, student: Classifier, features: Sequence[Tensor], index: Tensor
    ) -> Tensor:
        """Return the mean loss over the views, 0 without a labeled sample."""
        known = index < len(self._labels)
        if not known.any():
            return features[0].new_zeros(())
        target = self._labels[index[known]].to(features[0].device)
        chosen = known.to(features[0].device)
        logits = torch.cat([student.head(each.detach()[chosen]) for each in features])
        target = target.repeat(len(features))
        self._right += int((logits.argmax(1) == target).sum())
        self._seen += len(target)
        return F.cross_entropy(logits, target)

    def metrics(self) -> dict[str, float]:
        """Log the accuracy on the augmented views of labeled samples."""
        return {"online_accuracy": self._right / self._seen} if self._seen else {}
