#!/usr/bin/env bash
# The first hour of somebody new, typed: from the wheel, in an empty folder, on pictures
# that the project has never seen. Each step says what it expects and stops if it is not
# so; slips must cost one line and the exit code that docs/errors.md says.
#
#   examples/first_hour.sh [--venv] [WHEEL]
#
# Without WHEEL one is built from this checkout. With --venv the wheel is installed with
# all that it needs into a new environment; without, it is laid beside the packages of
# the `python` on the path.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
own_venv=false
if [ "${1-}" = --venv ]; then own_venv=true; shift; fi
wheel=${1:+$(realpath "$1")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 COLUMNS=80 HOME="$work/home"
unset FEDSEMI_DATA FEDSEMI_DEBUG PYTHONPATH
steps=0

# Say what comes.
chapter() { printf '\n== %s\n' "$1"; }

# works TEXT COMMAND…: the command ends well and prints the text; spaces do not count.
works() { ends 0 "$@"; }

# ends EXIT TEXT COMMAND…: the command ends so, and prints the text.
ends() {
    local exit=$1 text=$2 shown code=0
    shift 2
    shown=$("$@" 2>&1) || code=$?
    judge "$code" "$exit" "$text" "$shown" "$*"
}

# slip EXIT TEXT COMMAND…: the command ends so, with one line that has the text.
slip() {
    local exit=$1 text=$2 shown code=0
    shift 2
    shown=$("$@" 2>&1 >/dev/null) || code=$?
    [ "$(printf '%s\n' "$shown" | wc -l)" = 1 ] || fail "more than one line" "$shown" "$*"
    judge "$code" "$exit" "$text" "$shown" "$*"
}

judge() {
    local flat
    flat=$(printf '%s' "$4" | tr -s ' \n' ' ')
    [ "$1" = "$2" ] || fail "ended with $1, not $2" "$4" "$5"
    [[ $flat == *"$3"* ]] || fail "did not say: $3" "$4" "$5"
    steps=$((steps + 1))
    printf 'ok  %s\n' "$5"
}

fail() {
    printf '\nFAILED: %s\n%s\n%s\n' "$3" "$1" "$2" >&2
    exit 1
}

there() { [ -s "$1" ] || fail "is missing or empty" "" "$1"; }

has() { grep -qF "$2" "$1" || fail "does not have: $2" "$(cat "$1")" "$1"; }

chapter "The wheel"
if [ -z "$wheel" ]; then
    cp -r "$here/../src" "$here/../pyproject.toml" "$here/../README.md" "$here/../LICENSE" "$work"
    (cd "$work" && python -c 'from setuptools import build_meta as b; b.build_wheel("dist")' \
        >build.log 2>&1) || fail "could not be built" "$(cat "$work/build.log")" "the wheel"
    wheel=$(ls "$work"/dist/*.whl)
fi
if $own_venv; then
    python -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet -c "$here/../constraints.txt" "$wheel"
    export PATH="$work/venv/bin:$PATH"
else
    python -m pip install --quiet --no-deps --no-index --target "$work/laid" "$wheel"
    export PYTHONPATH="$work/laid"
fi
fedsemi() { python -m fedsemi "$@"; }
mkdir "$work/empty"
cd "$work/empty"
python - "$work" <<'PYTHON'
import sys, fedsemi
assert fedsemi.__file__.startswith(sys.argv[1]), f"not of the wheel: {fedsemi.__file__}"
PYTHON

chapter "What is there"
works "Train one image classifier over many sites" fedsemi --help
works "semianagg" fedsemi methods
works "anchor" fedsemi methods semianagg
works "partition.dirichlet_alpha" fedsemi settings partition
works "local.lr_labeled" fedsemi settings lr
works "federation" fedsemi configs
works "digits.toml" fedsemi configs digits
works "handwritten digits" fedsemi datasets
works "fashion-mnist" fedsemi datasets fashion-mnist
works "complete" fedsemi --show-completion bash

chapter "Folders of pictures"
python "$here/digits_as_folders.py"
works "3 sites, 10 classes: federation.toml" \
    fedsemi init hospital-a hospital-b practice-c --test test-set
works "training can start" fedsemi check federation.toml
truncate -s 60 practice-c/070*.png # ten pictures that break off
cp hospital-a/one/0001.png test-set/one/leaked.png
ends 65 "training would stop" fedsemi check federation.toml
has runs/check/problems.csv "practice-c,0700.png,,FS3101,cannot be decoded"
has runs/check/problems.csv "hospital-a,one/0001.png,,FS3401,is learned from and tested on"
rm test-set/one/leaked.png practice-c/070*.png
works "training can start" fedsemi check federation.toml

chapter "Train, look, use"
small="--set data.image_size=16 --set model.width=8 --set local.batch_size=32"
# shellcheck disable=SC2086  # several words on purpose
works "records in runs/first" fedsemi run federation.toml $small \
    --set stages.0.rounds=8 --set stages.1.rounds=2 --out runs/first
works "The unlabeled sites" fedsemi run --labels-only runs/first
works "saved report.html" fedsemi report runs/first --out report.html
has report.html "labels alone"
there report.html
works "" fedsemi predict runs/first new-pictures --out classes.csv
[ "$(wc -l <classes.csv)" = 98 ] || fail "97 rows and a heading were due" "" classes.csv
works "" fedsemi export runs/first --format csv --out tables
there tables/rounds.csv
works "" fedsemi export runs/first --format torch --out model.pt2
works "file,class,probability" fedsemi predict model.pt2 new-pictures

chapter "Compare"
works "dirichlet_alpha=2" fedsemi compare digits.toml --methods lower,semianagg --seeds 1 \
    --grid partition.dirichlet_alpha=0.5,2 \
    --set partition.num_clients=3 --set data.train_limit=200 --set model.width=4 \
    --set stages.0.rounds=2 --set stages.1.rounds=1 --no-probe --out compared
there compared/index.html

chapter "Slips"
slip 64 "FS4112 No such command 'rnu'. Did you mean 'run'?" fedsemi rnu
slip 64 "FS4001 there is no config 'demoo' (did you mean the shipped 'demo'" fedsemi run demoo
slip 64 "FS4101 unknown key 'stages.1.rouns' (did you mean 'rounds'?)" \
    fedsemi run demo --set stages.1.rouns=3
slip 64 "did you mean local.lr_labeled or local.lr_unlabeled?" fedsemi run demo --set lr=0.1
slip 64 "partition.dirichlet_alpha" fedsemi run digits --set alpha=0.1
slip 64 "(did you mean 'semianagg'?)" fedsemi methods semianag
slip 65 "FS3001 there is no folder 'nowhere'" \
    fedsemi init nowhere --out other.toml
slip 73 "FS1200 'federation.toml' exists" fedsemi init hospital-a practice-c
slip 74 "FS1110 there is no model 'nowhere'" fedsemi predict nowhere new-pictures
slip 74 "FS1110 'nowhere' is not the folder of a run" fedsemi report nowhere
slip 65 "FS3055" fedsemi datasets get isic18
slip 64 "No such option" fedsemi report runs/first --format pdf

printf '\n%s steps, all as expected\n' "$steps"
