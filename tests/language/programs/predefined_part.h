// A header of the user's.
#include <stddef.h>
#if __GNUC__ < 5
#define OLD_IN_HEADER 1
#else
#define OLD_IN_HEADER 0
#endif
