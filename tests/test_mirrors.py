"""Every module has a test of its name in the place of its name, or a reason.

`src/fedsemi/a/b.py` is tested in `tests/a/test_b.py`.
"""

from __future__ import annotations

import ast
from pathlib import Path

import fedsemi

PACKAGE = Path(fedsemi.__file__).parent
TESTS = PACKAGE.parents[1] / "tests"

ELSEWHERE = {
    # module: where it is tested, and why there
    "__main__": ("test_train", "two lines, which every started command runs"),
    "adaptive": ("test_attacks", "attacks are tested one beside the other"),
    "at_site": ("test_masked", "a site in a masked round, by whole rounds"),
    "held": ("test_masked", "a simulated site's vault, by what memories end with"),
    "model_sum": ("test_masked", "models as numbers of a sum, by whole rounds"),
    "terms": ("test_agreement", "what a site agrees to, by its agreements"),
    "steps": ("test_masked", "the steps of a masked round, by whole rounds"),
    "questions": ("test_masked", "whom a server asks next, by whole rounds"),
    "sum_desk": ("test_masked_sites", "key and vault at hand, by whole rounds"),
    "letters": ("test_server", "what travels, read by both sides"),
    "parameters": ("test_shamir", "constants; the prime is one"),
    "rules": ("test_server", "how many are needed, by sites that are lost"),
    "site_masks": ("test_site", "what a site computes, by what it answers"),
    "vault": ("test_site", "a record, by what a site refuses"),
    "adverts": ("test_server", "whose keys a server passes on, by its sessions"),
    "fresh": ("test_site", "new keys of a session, by what a site begins with"),
    "recovery": ("test_server", "secrets from wrong shares, by what sites open"),
    "signatures": ("test_consents", "real signatures, by what they open"),
    "unmasking": ("test_accounts", "masks off a sum, by a server and by sites"),
    "allocator": ("test_many_clients", "a call of the C library; memory is measured"),
    "alternating": ("test_semifl", "rounds of clients and server by turns"),
    "answer": ("test_answers_weights", "a record; how effects make one is seen there"),
    "attack_suite": ("test_attacks", "attacks are tested one beside the other"),
    "attacked": ("test_attacks", "attacks are tested one beside the other"),
    "base": ("test_information", "an interface; what all objectives share"),
    "blueprint": ("test_agreement", "what a plan holds is what a site agrees to"),
    "certificates": ("test_register", "keys count where they are checked"),
    "checkpoint": ("test_damage", "with every bit that can be damaged"),
    "classifier": ("test_resnet", "the frame of every network"),
    "common": ("test_svhn", "helpers of the readers"),
    "conductor": ("test_locked", "a process of Flower's, tested for what it is denied"),
    "consistency": ("test_fedconsist", "the loss of that method alone"),
    "debiased": ("test_feddb", "the objective of that method alone"),
    "deployed": ("test_coordinator", "the coordinator's process"),
    "discrepancy": ("test_sage", "the objective of that method alone"),
    "door": ("test_attack", "by whoever knocks without being let in"),
    "fedavg": ("test_averaging", "all averaging methods side by side"),
    "generations": ("test_damage", "checkpoints of which some are damaged"),
    "guard_state": ("test_guard", "the guard's memory"),
    "head_only": ("test_fedbarlow", "the stage after that one"),
    "in_process": ("test_workers", "engines are tested for equal bits"),
    "owners": ("test_experiment_sites", "what a config may say, beside all else"),
    "verdict": ("test_answers_confirmed", "by the rules and turns that it judges"),
    "testing": ("test_running_mean", "which model a test is of, by whole runs"),
    "installed": ("test_datasets", "data sets of packages, in the table of all"),
    "isic18_split": ("test_isic18", "a part of that reader"),
    "labeler": ("test_pseudo_label", "who makes pseudo-labels, and who learns them"),
    "link": ("test_locked", "a process of Flower's, tested for what it is denied"),
    "loopback": ("test_engine", "a stand-in for the network"),
    "mailbox": ("test_many_clients", "matters with many clients"),
    "messages": ("test_wire", "records without behavior; their fields are declared"),
    "mixed_up": ("test_semifl", "the objective of that method alone"),
    "model_card": ("test_predict", "read wherever a model is used"),
    "notes": ("test_catalogue", "text; each note is named by a cell"),
    "personal_head": ("test_fedrod", "the objective of that method alone"),
    "server_momentum": ("test_feddb", "the server step of that method and SemiFL"),
    "session": ("test_resume", "by runs that are stopped and go on"),
    "sharpness": ("test_fl2", "the objective of that method alone"),
    "site": ("test_federation", "the folder that `fedsemi pack` and `deal` write"),
    "site_settings": ("test_experiment_sites", "settings are tested in configs"),
    "synthetic": ("test_datasets", "made images, in the table of all"),
    "tasks": ("test_attack", "by whoever asks for tasks that are not theirs"),
    "trial": ("test_deployment", "a whole federation on one machine"),
    "twins": ("test_twin_sight", "the objective of that method alone"),
    "two_heads": ("test_acr", "the heads of that objective"),
    "parcels": ("test_connection", "what goes over the connection"),
    "warm_node": ("test_locked", "a process of Flower's, tested for what it is denied"),
    "checksums": ("test_folder", "what `verify` finds in a folder"),
    "run": ("test_workers", "the rounds of a simulation, by all engines"),
    "engine": ("test_workers", "the interface, by everything that has it"),
    "flare": ("test_flare", "a job's two ends, with FLARE itself and without"),
    "flare_grid": ("test_flare", "with the site at its other end"),
    "flare_letters": ("test_flare", "what goes between the two"),
    "flower_names": ("test_flower_internals", "the table and what is imported"),
    "folder": ("test_resume", "by runs that are stopped and go on"),
    "folder_files": ("test_folder", "with the folder that they lie in"),
    "hello": ("test_greeting", "the words of the greeting"),
    "introduction": ("test_roster", "what a site says of itself when it joins"),
    "manifest": ("test_resume", "what lets a run go on"),
    "memory_store": ("test_private_files", "files of Flower's sites"),
    "one_run_grid": ("test_simulate", "what every grid without a SuperLink has"),
    "on_grid": ("test_simulate", "a run over Flower's grid"),
    "own_learner": ("test_own_cards", "what methods of the field share"),
    "proxies": ("test_proxyfl", "the objective of that method alone"),
    "permuted": ("test_averaging", "all averaging methods side by side"),
    "guests": ("test_admission", "who may enter changes with who is admitted"),
    "protection": ("test_protected", "settings of what is tested there"),
    "inside": ("test_lab", "membership, from answers to the verdict"),
    "identity": ("test_registry", "who is behind a name, told where names are found"),
    "method_settings": ("test_registry", "settings of methods from outside"),
    "reference": ("test_write_reference", "what is read is what was written"),
    "reporting": ("test_workers", "what engines report, by all of them"),
    "standing": ("test_members", "what sites say of themselves, and who heeds it"),
    "state": ("test_averaging", "what methods keep between rounds"),
    "workbench": ("test_local", "what a client learns with"),
    "fedsemi/__init__": ("test_public_api", "the names that it offers"),
    "cli/__init__": ("test_main", "the command line as a whole"),
    "engines/__init__": ("test_workers", "the interface, by everything that has it"),
    "methods/__init__": ("test_all_methods", "the table of methods"),
    "models/__init__": ("test_model_spec", "the table of networks"),
}


def key(path: Path) -> str:
    """Name a module by what a move into another folder leaves as it is."""
    return f"{path.parent.name}/{path.stem}" if path.stem == "__init__" else path.stem


def defines_something(path: Path) -> bool:
    """Tell whether there is a function, a class or a table to test."""
    kinds = (ast.FunctionDef, ast.ClassDef, ast.AnnAssign, ast.If)
    return any(isinstance(n, kinds) for n in ast.parse(path.read_text("utf-8")).body)


def without_mirror() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        place = TESTS / path.relative_to(PACKAGE).parent
        is_init = path.stem == "__init__"
        name = path.parent.name if is_init else path.stem
        tested = (place / f"test_{name}.py").is_file()
        if not tested and (defines_something(path) or not is_init):
            found[key(path)] = path
    return found


def test_every_module_has_a_test_of_its_name_or_a_reason() -> None:
    missing = {k: str(p) for k, p in without_mirror().items() if k not in ELSEWHERE}
    assert missing == {}, "write tests/<folder>/test_<name>.py, or say where and why"


def test_no_reason_outlives_its_module_or_is_given_for_one_with_a_test() -> None:
    assert ELSEWHERE.keys() - without_mirror().keys() == set()


def test_the_tests_that_are_named_instead_exist() -> None:
    there = {path.stem for path in TESTS.rglob("test_*.py")}
    assert {where for where, _ in ELSEWHERE.values()} <= there
    assert all(why for _, why in ELSEWHERE.values())
