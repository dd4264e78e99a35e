"""How much each pseudo-label counts: the part in which FixMatch and its heirs differ.

A selection maps the teacher's probabilities [B, C] and the samples' places in the
client's data [B] to a weight in [0, 1] for each sample. Its buffers are its state.

- FixMatch: Sohn et al., NeurIPS 2020
- FlexMatch: Zhang et al., NeurIPS 2021
- FreeMatch: Wang et al., ICLR 2023
- SoftMatch: Chen et al., ICLR 2023
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Selection(nn.Module):
    """The interface; `regularizer` is zero for all but FreeMatch."""

    def forward(self, probs: Tensor, index: Tensor) -> Tensor:
        """Return the weight of each sample, [B], and learn from the batch."""
        raise NotImplementedError

    def regularizer(self, strong_probs: Tensor, weight: Tensor) -> Tensor:
        """Return a term to add to the loss, from the strong view's probabilities."""
        return strong_probs.new_zeros(())


class Fixed(Selection):
    """FixMatch: a sample counts if its confidence reaches the cutoff."""

    def __init__(self, cutoff: float = 0.95) -> None:
        super().__init__()
        self.cutoff = cutoff

    def forward(self, probs: Tensor, index: Tensor) -> Tensor:
        """Compare confidences with the cutoff."""
        return (probs.amax(1) >= self.cutoff).float()


class Flexible(Selection):
    """FlexMatch: the cutoff is lower for classes that were selected less often.

    `persistent=False` forgets the learned labels after each round, as the released
    code of SemiAnAgg does; nearly every pseudo-label then passes.
    """

    learned_label: Tensor

    def __init__(
        self,
        num_unlabeled: int,
        num_classes: int,
        cutoff: float = 0.95,
        persistent: bool = True,
    ) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.cutoff = cutoff
        nothing = torch.full((num_unlabeled,), -1, dtype=torch.long)
        self.register_buffer("learned_label", nothing, persistent=persistent)

    def threshold(self) -> Tensor:
        """Return the threshold of each class, [C]; all zero before any selection."""
        count = (self.learned_label + 1).bincount(minlength=self.num_classes + 1)
        unused, learned = count[0], count[1:]
        beta = learned / torch.maximum(unused, learned.amax()).clamp_min(1)
        return self.cutoff * beta / (2 - beta)

    def forward(self, probs: Tensor, index: Tensor) -> Tensor:
        """Compare with the thresholds so far, then learn the confident labels."""
        confidence, label = probs.max(1)
        weight = (confidence >= self.threshold()[label]).float()
        confident = confidence >= self.cutoff
        self.learned_label[index[confident]] = label[confident]
        return weight


class Soft(Selection):
    """SoftMatch: a truncated Gaussian of the confidence, after uniform alignment."""

    mean: Tensor
    variance: Tensor
    mean_probs: Tensor

    def __init__(self, num_classes: int, ema: float = 0.999, widths: float = 2) -> None:
        super().__init__()
        self.ema = ema
        self.widths = widths
        self.register_buffer("mean", torch.tensor(1 / num_classes))
        self.register_buffer("variance", torch.tensor(1.0))
        self.register_buffer("mean_probs", torch.zeros(num_classes))

    def forward(self, probs: Tensor, index: Tensor) -> Tensor:
        """Align, update mean and variance of the confidence, and weigh."""
        confidence = self._aligned(probs).amax(1)
        if len(confidence) > 1:  # the variance of one sample is undefined
            self.observe(confidence)
        return self.weigh(confidence)

    def observe(self, confidence: Tensor) -> None:
        """Move the running mean and (unbiased) variance."""
        self.mean.lerp_(confidence.mean(), 1 - self.ema)
        self.variance.lerp_(confidence.var(), 1 - self.ema)

    def weigh(self, confidence: Tensor) -> Tensor:
        """Return exp(-min(m - mean, 0)² / (2 variance / widths²))."""
        short = (confidence - self.mean).clamp_max(0)
        return torch.exp(-(short**2) * self.widths**2 / (2 * self.variance))

    def _aligned(self, probs: Tensor) -> Tensor:
        batch = probs.mean(0)
        if self.mean_probs.any():
            self.mean_probs.lerp_(batch, 1 - self.ema)
        else:
            self.mean_probs.copy_(batch)
        aligned = probs * (1 / probs.shape[1] + 1e-6) / (self.mean_probs + 1e-6)
        return aligned / aligned.sum(1, keepdim=True)


class Free(Selection):
    """FreeMatch: a threshold that follows the confidence, globally and per class.

    The weight of fairness is that of USB's configs, which cap the overall threshold at
    0.95 for SVHN only.
    """

    overall: Tensor
    mean_probs: Tensor
    histogram: Tensor

    def __init__(
        self,
        num_classes: int,
        ema: float = 0.999,
        fairness: float = 0.001,
        cap: float = 1.0,
    ) -> None:
        super().__init__()
        self.ema = ema
        self.fairness = fairness
        self.cap = cap
        even = torch.full((num_classes,), 1 / num_classes)
        self.register_buffer("overall", torch.tensor(1 / num_classes))
        self.register_buffer("mean_probs", even)
        self.register_buffer("histogram", even.clone())

    def threshold(self) -> Tensor:
        """Return the threshold of each class, [C]."""
        return self.overall * self.mean_probs / self.mean_probs.amax()

    def forward(self, probs: Tensor, index: Tensor) -> Tensor:
        """Update the running statistics, then compare with the thresholds."""
        confidence, label = probs.max(1)
        count = label.bincount(minlength=probs.shape[1])
        self.overall.lerp_(confidence.mean(), 1 - self.ema).clamp_(max=self.cap)
        self.mean_probs.lerp_(probs.mean(0), 1 - self.ema)
        self.histogram.lerp_(count / len(label), 1 - self.ema)
        return (confidence >= self.threshold()[label]).float()

    def regularizer(self, strong_probs: Tensor, weight: Tensor) -> Tensor:
        """Push the selected predictions away from the classes already preferred."""
        chosen = strong_probs[weight > 0]
        if not len(chosen):
            return strong_probs.new_zeros(())
        count = chosen.argmax(1).bincount(minlength=chosen.shape[1]) / len(chosen)
        target = _unit(self.mean_probs / self.histogram.clamp_min(1e-12))
        inverse = torch.where(count > 0, 1 / count.clamp_min(1e-12), count)
        shown = _unit(chosen.mean(0) * inverse)
        return self.fairness * (target * (shown + 1e-12).log()).sum()


def _unit(values: Tensor) -> Tensor:
    return values / values.sum()
