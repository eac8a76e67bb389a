"""What no answer may contain: hold-outs of the built-in tasks, and the seed that tests give to their servers."""
import pathlib
import re

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
SEED = "918273645546372819"


def _holdouts():
    """The hold-outs, as labels and in JSON."""
    for file in (CHECKOUT / "configs" / "tasks").glob("tier?/*.toml"):
        for shapes in re.findall(r"^holdout\s*=\s*\[(.*)\]$", file.read_text(), re.MULTILINE):
            for shape in re.findall(r"\{(.*?)\}", shapes):
                yield r"\b" + ',? ?"?'.join(rf'{axis}"?[=:] ?{size}\b' for axis, size in re.findall(r"(\w+) = (\d+)", shape))


_SECRETS = re.compile("|".join([SEED, *sorted(set(_holdouts()))]))


def check(text):
    """The text, if it tells no secret."""
    if found := _SECRETS.search(text):
        raise AssertionError(f"a secret is told: …{text[max(0, found.start() - 100):found.end() + 20]}…")
    return text
