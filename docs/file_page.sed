# SPDX-License-Identifier: Apache-2.0
# Doxygen's filter for headers. The comment at the top of a header becomes the description of the header's page. The
# title of a paragraph is one word, and Doxygen takes the whole line as the title.
1s|^// SPDX.*|/// \\file|
2,/^[^/]/s|^//|///|
1{/^\/\* SPDX/d}
2s|^/\* |/** \\file\n *  |
s|^\( *///\) \\par \([A-Z][a-z]*\) |\1 \\par \2\n\1 |
s|^\( *///\) \(.*\) \\par \([A-Z][a-z]*\) |\1 \2\n\1 \\par \3\n\1 |
