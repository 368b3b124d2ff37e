# SPDX-License-Identifier: Apache-2.0
# Doxygen's filter for headers: the comment at the top of a header becomes the description of the header's page.
1s|^// SPDX.*|/// \\file|
2,/^[^/]/s|^//|///|
1{/^\/\* SPDX/d}
2s|^/\* |/** \\file\n *  |
