"""Where paper, released code and data disagree; printed beside the cells they touch."""

from __future__ import annotations

NOTES: dict[str, str] = {
    "labels": "The paper says 5 % labels in the text and 10 % in a caption; its files "
    "give the labeled client 9.04 % on SVHN, 10.20 % on CIFAR-100, 7.35 % on ISIC-18. "
    "Each record here has its own share.",
    "warm-up": "Warm-up is 250/500/250 rounds in the paper's text and 500/1000/500 in "
    "its appendix.",
    "lower": "The paper's lower bound is the model at the end of the warm-up, here the "
    "mean of its last tests, and the share of the gap closed is measured from there. "
    "The rows 'for all rounds' train on with labels alone for as long as the methods; "
    "the paper has no such rows.",
    "rule": "The released code divides before it subtracts: no share can exceed "
    "1/(clients − 1), which is close to uniform weights. Which rule made the paper's "
    "numbers is not known, so both are run.",
    "unpublished": "The paper's re-run of this baseline is not released; settings that "
    "it does not state are our reading (docs/concordance.md).",
    "rscfed-c100": "A user of RSCFed's public CIFAR-100 recipe reports 15.57 %, so the "
    "28.46 % may come from CBAFed's re-run of it.",
    "cbafed-partial": "2 to 4 % of the pseudo-labels of CBAFed's first round are right "
    "on ISIC-18. Our explanation: the warm-up is too unsure of the most frequent class "
    "to pass the first threshold, so that the rule of the second-best class gives "
    "nearly all labels to rare ones; every site learns from them, and none has labels "
    "enough to outweigh them, as the one labeled client of Table 1 does. It explains "
    "half of what is seen: without that rule (rare_below = 0, Q11) accuracy is five "
    "times as high, but balanced accuracy is as far below labels only. No image has a "
    "pseudo-label then in the first four rounds, and most of the later ones are right.",
    "isofed": "Our reading, not the authors' code.",
    "leak": "Published ISIC-18 numbers are split by image: 788 of 2,003 test images of "
    "the published split share a lesion with a training image, 749 of ours; "
    'data.split = "lesion" avoids it.',
    "svhn-loss": "The paper implies cross entropy on SVHN; the released command uses "
    "balanced softmax.",
    "svhn-test": "The paper calls SVHN's test set balanced; it is not.",
    "flex": "The released code wipes FlexMatch's memory every round, so that nearly "
    "every pseudo-label is used; so does FlexMatch here, in the profiles that use it.",
    "log-order": "The released code logs the contribution of client i under 11 − i. If "
    "the paper's plot came from that log, its clients are mirrored and its agreement "
    "with leave-one-out does not hold.",
    "loo-two": "The released leave-one-out mode drops a second client; here exactly "
    "one is left out.",
    "bold": "48.31 % precision is bold in the paper, but 50.33 % in the same column is "
    "higher.",
    "fedrod": "Under our reading FedRoD's personal heads change nothing that is sent: "
    "its global model is FedAvg-Semi's.",
    "cost": "The paper says 60 % of RSCFed's cost; it is 66.7 %.",
    "probe": "The published probe takes the best of six looks at the test set; here "
    "the epoch is chosen on held-out training labels.",
    "no-picture": "The plot's numbers are not in the paper's text; ours stand alone.",
}
