/* SPDX-License-Identifier: Apache-2.0 */
/* The version of Sukima, for the preprocessor of C and C++. CMakeLists.txt reads it, too. */
#ifndef SUKIMA_VERSION_H
#define SUKIMA_VERSION_H

/** \addtogroup c_interface
 *  @{ */

/** The major version. Until it is 1, a new minor version may break programs. */
#define SUKIMA_VERSION_MAJOR 0
/** The minor version. */
#define SUKIMA_VERSION_MINOR 1
/** The patch version: corrections only. */
#define SUKIMA_VERSION_PATCH 0

/** One number that grows with each version: 100 for 0.1.0, 10203 for 1.2.3. */
#define SUKIMA_VERSION_NUMBER \
  (SUKIMA_VERSION_MAJOR * 10000 + SUKIMA_VERSION_MINOR * 100 + SUKIMA_VERSION_PATCH)

/** @} */

#endif
