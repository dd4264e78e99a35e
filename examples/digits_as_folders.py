"""Write scikit-learn's digits as pictures: three sites, and a folder to test on.

One site keeps labels as sub-folders, one has some in a table, one has none. Run it in
an empty folder: `python digits_as_folders.py`.
"""

from pathlib import Path

from PIL import Image
from sklearn.datasets import load_digits

NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def save(number, folder, name):
    """Write one digit as a picture of 32 pixels."""
    pixels = (digits.images[number] * 15.9).astype("uint8")
    path = Path(folder, f"{name}{number:04}.png")
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).resize((32, 32)).save(path)
    return path.name


digits = load_digits()
labels = [NAMES[target] for target in digits.target]
for number in range(200):
    save(number, "hospital-a", f"{labels[number]}/")
table = ["file,label"]
for number in range(200, 700):
    file = save(number, "hospital-b", "scan-")
    table.append(f"{file},{labels[number] if number < 250 else ''}")
Path("hospital-b/labels.csv").write_text("\n".join(table) + "\n")
for number in range(700, 1400):
    save(number, "practice-c", "")
for number in range(1400, 1700):
    save(number, "test-set", f"{labels[number]}/")
for number in range(1700, 1797):
    save(number, "new-pictures", "")
