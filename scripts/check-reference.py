#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
r"""Checks that each public header, free function and class has a page in the reference.

check-reference.py HEADERS TAGFILE HTML: HEADERS is the folder include/sukima, TAGFILE the file that Doxygen writes
because of GENERATE_TAGFILE, and HTML the folder with Doxygen's pages. A function must be in a group, because only a
group's page lists functions, and the page must have its anchor. A header has a page if it begins with a comment
(docs/file_page.sed). The title of a paragraph (\par Complexity) must be one word: Doxygen takes the whole line as the
title, and docs/file_page.sed ends the line after it.
oneTBB's own reference describes the headers of tbb-compat, so docs/Doxyfile.in leaves them out, too.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree

# The beginning of a declaration that is not a function of ours.
NO_FUNCTION = re.compile(r"^(using|typedef|enum|namespace|friend|static_assert|concept|inline constexpr|\[\[deprecated)\b")
PUBLIC_BLOCK = re.compile(
    r'^(namespace (sukima(::(?!detail)\w+)*|SUKIMA_NAMESPACE)|extern "C") \{$', flags=re.M)


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r"^\s*#.*?(?<!\\)$", "", text, flags=re.M | re.S)


def public_parts(text):
    """The texts of the blocks of public namespaces, and of the declarations for C."""
    for block in PUBLIC_BLOCK.finditer(text):
        depth = 1
        for end in range(block.end(), len(text)):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            if depth == 0:
                yield text[block.end():end]
                break


def heads(text):
    """The declarations at the outermost level, each up to its body or semicolon."""
    depth, parentheses, head = 0, 0, ""
    for character in text:
        if depth == 0:
            parentheses += {"(": 1, ")": -1}.get(character, 0)
        if parentheses or depth == 0 and character not in "{};":
            head += character
            continue
        if depth == 0 and character in "{;":
            yield " ".join(head.split())
            head = ""
        depth += {"{": 1, "}": -1}.get(character, 0)


def without_brackets(text, opening, closing, keep=False):
    result, depth = "", 0
    for character in text:
        if character == opening:
            depth += 1
        elif character == closing and depth:
            depth -= 1
            if depth == 0 and keep:
                result += opening + closing
        elif depth == 0:
            result += character
    return result


def declared(head):
    """("function" or "class", its name) of a declaration; None for others."""
    head = re.sub(r"\[\[.*?\]\]|__attribute__\(\(.*?\)\)|SUKIMA_CAPACITY_API", " ", head)
    head = re.sub(r"\b(alignas|noexcept)\(\)", " ", without_brackets(head, "(", ")", keep=True))
    head = head.replace("decltype()", "auto")
    head = re.sub(r"operator(<<|<=>|<=|>=|<|>|->)", "operator", head)
    head = without_brackets(head, "<", ">")
    head = re.sub(r"\brequires\s*(\(\)|!?[\w:]+(\(\))?)(\s*(&&|\|\|)\s*(\(\)|!?[\w:]+(\(\))?))*", " ", head)
    head = re.sub(r"^\s*template\s*", "", re.sub(r"\btemplate\b", " ", head)).strip()
    if not head or NO_FUNCTION.match(head):
        return None
    kind = re.match(r"(?:class|struct)\s+(\w+)\s*(final)?\s*(:(?!:).*)?$", head)
    if kind:
        return "class", kind.group(1)
    function = re.match(r"[\w:*&\s]+?[\s*&](\w+)\s*\(\)", head)
    if function and "=" not in head.split("(")[0] and "operator" not in function.group(0):
        return "function", function.group(1)
    return None


def public_headers(folder):
    """The headers that programs include by themselves."""
    for header in sorted(folder.rglob("*.h*")):
        if not {"detail", "tascell", "tbb-compat"} & set(header.relative_to(folder).parts[:-1]):
            yield header


def public_names(folder):
    """All public names, each with the header that declares it first."""
    found = {}
    for header in public_headers(folder):
        text = without_comments(header.read_text(encoding="utf-8"))
        for part in public_parts(text):
            # A class that is only named does not count: it has its page where it is defined.
            part = re.sub(r"^(template <[^;{]*>\s*)?(class|struct) \w+;$", "", part, flags=re.M)
            for head in heads(part):
                name = declared(head)
                if name:
                    found.setdefault(name, header.relative_to(folder))
    return found


def documented(tagfile):
    """("function", name) and ("class", name) with the anchors of their places in pages."""
    pages = {}
    for compound in xml.etree.ElementTree.parse(tagfile).getroot():
        kind, name = compound.get("kind"), compound.findtext("name", "")
        if kind in {"class", "struct"}:
            pages.setdefault(("class", re.sub(r"<.*", "", name).split("::")[-1].strip()), []).append(
                (compound.findtext("filename", ""), ""))
        if kind != "group":
            continue
        for member in compound.findall("member"):
            if member.get("kind") == "function":
                pages.setdefault(("function", member.findtext("name", "")), []).append(
                    (member.findtext("anchorfile", ""), member.findtext("anchor", "")))
    return pages


def headers_without_page(folder, tagfile, html):
    """The public headers that have no page of their own."""
    pages = set()
    for compound in xml.etree.ElementTree.parse(tagfile).getroot():
        if compound.get("kind") == "file" and (html / compound.findtext("filename", "")).is_file():
            pages.add((pathlib.PurePath(compound.findtext("path", "")) / compound.findtext("name", "")).parts)
    for header in public_headers(folder):
        name = header.relative_to(folder).parts
        if not any(page[-len(name):] == name for page in pages):
            yield pathlib.PurePath(*name)


def titles_with_text(html):
    """The pages with a paragraph whose title is more than a word, each with the title."""
    for page in sorted(html.glob("*.html")):
        for title in re.findall(r"<dt>((?:Complexity|Environment)\b[^<]+)</dt>", page.read_text(encoding="utf-8")):
            yield page.name, title


def main():
    if len(sys.argv) != 4:
        print("check-reference.py: give the folder of the headers, Doxygen's tag file and its folder of pages",
              file=sys.stderr)
        return 2
    folder, tagfile, html = map(pathlib.Path, sys.argv[1:])
    names, pages = public_names(folder), documented(tagfile)
    if not names:
        print(f"check-reference.py: {folder} declares nothing; give the folder include/sukima", file=sys.stderr)
        return 2
    texts, wrong = {}, 0
    for header in headers_without_page(folder, tagfile, html):
        wrong += 1
        print(f"{header}: the header has no page in the reference; begin it with a comment that describes it")
    for page, title in titles_with_text(html):
        wrong += 1
        print(f"{page}: the title of the paragraph '{title}' contains its text; see docs/file_page.sed")
    for (kind, name), header in names.items():
        for file, anchor in pages.get((kind, name), []):
            path = html / file
            if path.is_file() and file not in texts:
                texts[file] = path.read_text(encoding="utf-8")
            if file in texts and (not anchor or f'id="{anchor}"' in texts[file]):
                break
        else:
            wrong += 1
            print(f"{header}: the {kind} {name} has no page in the reference; document it inside an \\addtogroup")
    if wrong:
        return 1
    print(f"{len(names)} functions and classes have a place in the reference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
