#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that docs/papers.md has every figure and table of the papers: check-papers.py [FOLDER]

Each section of the page is about a paper. The first column of its rows names figures and tables, such as "table 4,
figures 4, 5" or "8 to 10, 13"; a number without a word is a figure's. Checked:
  - every figure and every table of each paper has a row, and no row names one that the paper does not have;
    - each row has text in all columns of its table;
  - if an experiment has a claim about a figure or table, the row of that figure names the experiment.
"""
import json
import pathlib
import re
import sys

# The numbers of figures and tables, by the first author. The slides have no numbers.
PAPERS = {"Yoda": {"figure": 8, "table": 3}, "Takayama": {"figure": 20, "table": 0}, "Toyama": {"figure": 9, "table": 1},
          "Aoyagi": {"figure": 9, "table": 5}, "Yasugi": {"figure": 0, "table": 0}}
TOKEN = re.compile(r"(figure|table|section)s?\b|(?<![\d.])(\d+)(?: to (\d+))?(?![\d.])")


def named(text):
    """The figures and tables that a text names, as pairs such as ("figure", 4)."""
    found, kind = set(), "figure"
    for word, first, last in TOKEN.findall(text):
        if word:
            kind = word
        elif kind != "section":
            found.update((kind, number) for number in range(int(first), int(last or first) + 1))
    return found


def sections(page):
    """The rows of each paper, by its first author: lists of cells. The first one is the head."""
    rows, author = {}, None
    for number, line in enumerate(page.splitlines(), 1):
        if line.startswith("## "):
            author = line[3:].split(",")[0]
            rows[author] = []
        elif author and line.startswith("|") and not line.startswith("| ---"):
            rows[author].append((number, [cell.strip() for cell in line.strip("|").split("|")]))
    return rows


def check_rows(author, rows):
    """The complaints about a paper's rows, and its rows by figure and table."""
    complaints, by_figure = [], {}
    columns = len(rows[0][1]) if rows else 0
    for number, cells in rows[1:]:
        if len(cells) != columns or not all(cells):
            complaints.append(f"docs/papers.md:{number}: the row has not {columns} cells with text")
            continue
        for one in named(cells[0]) if any(PAPERS[author].values()) else ():
            by_figure.setdefault(one, []).append(cells)
            if not 1 <= one[1] <= PAPERS[author][one[0]]:
                complaints.append(f"docs/papers.md:{number}: {author} and others have no {one[0]} {one[1]}")
    for kind, count in PAPERS[author].items():
        for number in range(1, count + 1):
            if (kind, number) not in by_figure:
                complaints.append(f"docs/papers.md: {kind} {number} of {author} and others is missing")
    return complaints, by_figure


def check_claims(experiments, by_paper):
    """The complaints about claims whose figure's row does not name their experiment."""
    complaints = []
    for file in sorted(experiments.glob("*.json")):
        for claim in json.loads(file.read_text(encoding="utf-8")).get("claims", ()):
            figure = claim.get("figure", "")
            author = figure.split()[0] if figure else ""
            if figure and author not in by_paper:
                complaints.append(f"{file.name}: the claim '{claim['name']}' is about '{figure}', which is not a paper of docs/papers.md")
            for one in sorted(named(figure)) if author in by_paper else ():
                if not any(f"{file.stem}`" in cells[2] for cells in by_paper[author].get(one, ())):
                    complaints.append(f"docs/papers.md: the row of {author}'s {one[0]} {one[1]} does not name `{file.stem}`")
    return complaints


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    rows = sections((root / "docs/papers.md").read_text(encoding="utf-8"))
    complaints, by_paper = [], {}
    for author in PAPERS:
        found, by_paper[author] = check_rows(author, rows.get(author, []))
        complaints += found
    complaints += check_claims(root / "lab/experiments", by_paper)
    print("\n".join(complaints) if complaints else "every figure and table has a row")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
