# SPDX-License-Identifier: Apache-2.0
"""`python -m sukima` is the program sukima."""
from ._program import main

if __name__ == "__main__":
    main()
