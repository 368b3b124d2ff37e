# SPDX-License-Identifier: Apache-2.0
# Toolchain file for aarch64: Debian's cross compiler; QEMU's user mode runs the programs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# Libraries of the other architecture are installed beside the machine's own (Debian's multiarch), headers in
# /usr/include.
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
# Programs use the loader and the libraries of the packages for arm64. With -L /usr/aarch64-linux-gnu they would combine
# the cross compiler's loader with the packages' C library. The two versions differ, and threads hang.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
