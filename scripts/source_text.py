# SPDX-License-Identifier: Apache-2.0
"""Splits sources into code and comments, for the scripts that check either."""
import re


def split_comments(text, is_script=False):
    """(code, comments): two texts with the same lines; each line's comment is blank in the code and the reverse.

    The text is C, C++ or Promela, or with is_script Python, shell or CMake.
    """
    if is_script:
        pattern = re.compile(r'"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(?<![\w$\\])#[^\n]*')
        is_comment = lambda piece: piece.startswith(("#", '"""'))
    else:
        pattern = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*[\s\S]*?\*/')
        is_comment = lambda piece: piece.startswith(("//", "/*"))
    code, comments, last = [], [], 0

    def blank(piece):
        return re.sub(r"[^\n]", " ", piece)

    for match in pattern.finditer(text):
        code.append(text[last:match.start()])
        comments.append(blank(text[last:match.start()]))
        piece = match.group()
        code.append(blank(piece) if is_comment(piece) else piece)
        comments.append(piece if is_comment(piece) else blank(piece))
        last = match.end()
    code.append(text[last:])
    comments.append(blank(text[last:]))
    return "".join(code), "".join(comments)
