// SPDX-License-Identifier: Apache-2.0
// The places of a machine: NUMA domains, last-level caches and cores; where a thread runs, and where memory
// is.
#ifndef SUKIMA_CAPACITY_PLACES_H
#define SUKIMA_CAPACITY_PLACES_H

/// \file
/// A place is one node of the machine's tree: the machine contains NUMA domains, these contain last-level
/// caches, these contain cores (hardware threads of a core share its caches). A place is a number of two
/// bytes. The numbers are those of the machine, not of the allowed CPUs, so they stay valid when cpusets
/// change.
///
/// The tree contains only the facts that the kernel states in /sys/devices/system (node and cpu): a CPU whose
/// core is not stated belongs to its last-level cache, or to its domain, or to the machine. If two files
/// contradict each other, the larger place divides the smaller one, so places are always nested. Without
/// sysfs the machine is the only place. A CPU that is switched on later belongs to the machine only.
///
/// All functions may be called from any thread, keep `errno`, are not cancellation points, start no thread,
/// keep no file open, and use no `malloc` and no stdio. If the kernel or a sandbox refuses an answer, the
/// result is SUKIMA_PLACE_ANY; no function aborts. A place that the table does not have counts as
/// SUKIMA_PLACE_ANY.

#include <stddef.h>
#include <stdint.h>

#include <sukima/capacity.h>

#ifdef __cplusplus
extern "C" {
#endif

/// \addtogroup c_places
/// @{

/// A place of one machine: 0 is any, 1 is the machine, then come the domains, the caches and the cores, each
/// in the order of their lowest CPU (domains: of their number).
typedef uint16_t sukima_place;

/// No place in particular, or unknown.
#define SUKIMA_PLACE_ANY UINT16_C(0)
/// The whole machine.
#define SUKIMA_PLACE_WHOLE UINT16_C(1)

/// CPUs with this number or a higher one belong to the machine only. (Linux ends here.)
#define SUKIMA_PLACE_MAX_CPUS 8192
/// NUMA domains with this number or a higher one are left out. (Linux ends here.)
#define SUKIMA_PLACE_MAX_DOMAINS 1024

/// The levels of the tree, from the largest place to the smallest.
typedef enum sukima_place_level {
  SUKIMA_PLACE_MACHINE,  ///< all CPUs
  SUKIMA_PLACE_NUMA_DOMAIN,  ///< CPUs that are equally near to one part of the memory
  SUKIMA_PLACE_LL_CACHE,  ///< CPUs that share the last level of cache
  SUKIMA_PLACE_CORE  ///< hardware threads of one core
} sukima_place_level;

/// The facts about a place.
typedef struct sukima_place_facts {
  sukima_place_level level;  ///< its level in the tree
  /// Of a domain: the kernel's number. Of a cache or a core: 0, 1, 2 … in the order of their lowest CPU.
  uint32_t number;
  uint32_t cpus;  ///< number of its CPUs; 0 for a domain that is only memory
  uint32_t first_cpu;  ///< the lowest of them; 0 if there is none
  sukima_place around;  ///< the smallest place that contains it; SUKIMA_PLACE_ANY for the machine
} sukima_place_facts;

/// The places of one machine. A table does not change.
typedef struct sukima_place_table sukima_place_table;

/// Reads the places of a machine.
/// \param options `root` is the recorded tree to read; `pid` and `affinity` say whose CPUs
///                sukima_place_table_usable() lists; NULL: the running machine and the calling thread, see
///                SUKIMA_CAPACITY_AT_OPEN
/// \return the table, to be passed to sukima_place_table_close(); NULL if there is no memory (about 700 KiB
///         of address space) or `root` is too long
/// \par Complexity linear in the number of CPUs: one file a core, and about ten a last-level cache
SUKIMA_CAPACITY_API sukima_place_table* sukima_place_table_open(const sukima_capacity_options* options);

/// Closes a table.
/// \param table an opened table, or NULL
SUKIMA_CAPACITY_API void sukima_place_table_close(sukima_place_table* table);

/// Returns the table of the running machine. The first call in the process reads the table, which is never
/// closed. Call this function before a thread is pinned, because the affinity of the calling thread decides
/// which CPUs count as allowed.
/// \return never NULL; without memory, a table with the machine only
/// \par Complexity a load, after the first call
SUKIMA_CAPACITY_API const sukima_place_table* sukima_place_table_of_machine(void);

/// Returns the number of places. Their numbers are 1 to this number.
/// \param table an opened table
/// \return at least 1
SUKIMA_CAPACITY_API uint32_t sukima_place_table_count(const sukima_place_table* table);

/// Returns the number of files whose content was ignored because it is malformed.
/// \param table an opened table
SUKIMA_CAPACITY_API uint32_t sukima_place_table_ignored(const sukima_place_table* table);

/// Returns the facts about a place.
/// \param table an opened table
/// \param place one of its places
/// \param facts gets the facts; of SUKIMA_PLACE_ANY those of the machine
/// \return 1, or 0 for SUKIMA_PLACE_ANY and numbers that the table does not have
SUKIMA_CAPACITY_API int sukima_place_table_facts(const sukima_place_table* table, sukima_place place,
                                                 sukima_place_facts* facts);

/// Returns the smallest place that has this CPU: its core, if the machine states it.
/// \param table an opened table
/// \param cpu   the kernel's number
/// \return the machine for a CPU of which nothing is known
/// \par Complexity constant
SUKIMA_CAPACITY_API sukima_place sukima_place_table_of_cpu(const sukima_place_table* table, uint32_t cpu);

/// Whether a CPU is one of the `cpus` of a place.
/// \param table an opened table
/// \param place one of its places; SUKIMA_PLACE_ANY is as the machine
/// \param cpu   the kernel's number
/// \return 1 or 0; 0 for a CPU of which nothing is known
/// \par Complexity at most four steps
SUKIMA_CAPACITY_API int sukima_place_table_has_cpu(const sukima_place_table* table, sukima_place place,
                                                   uint32_t cpu);

/// Returns the NUMA domain with the kernel's number.
/// \param table  an opened table
/// \param domain the number
/// \return SUKIMA_PLACE_ANY if there is none
/// \par Complexity constant
SUKIMA_CAPACITY_API sukima_place sukima_place_table_of_domain(const sukima_place_table* table,
                                                              uint32_t domain);

/// Returns the smallest place at this level or a larger one that contains `place`.
/// \param table an opened table
/// \param place one of its places
/// \param level the level
/// \return SUKIMA_PLACE_ANY for SUKIMA_PLACE_ANY
/// \par Complexity at most three steps
SUKIMA_CAPACITY_API sukima_place sukima_place_table_around(const sukima_place_table* table,
                                                           sukima_place place, sukima_place_level level);

/// Whether `inner` is `outer` or a part of it. SUKIMA_PLACE_ANY contains everything and is a part of
/// nothing else.
/// \param table an opened table
/// \param outer one of its places
/// \param inner one of its places
/// \return 1 or 0
/// \par Complexity at most four steps
SUKIMA_CAPACITY_API int sukima_place_table_contains(const sukima_place_table* table, sukima_place outer,
                                                    sukima_place inner);

/// Lists places that together have all CPUs which the process may use now: a smallest set of places, at this
/// level or a larger one.
/// \param table    an opened table
/// \param level    the level
/// \param places   gets the places in ascending order, as far as they fit; may be NULL if `capacity` is 0
/// \param capacity how many fit
/// \return how many there are: at least 1, because an unknown place counts as the machine
/// \par Complexity as sukima_capacity_read(), about 0.5 ms, and linear in the number of CPUs
SUKIMA_CAPACITY_API size_t sukima_place_table_usable(const sukima_place_table* table,
                                                     sukima_place_level level, sukima_place* places,
                                                     size_t capacity);

/// Returns the places of the calling process's memory: the NUMA domains of its pages. The running kernel
/// gives the answer (move_pages without a target, which changes nothing and faults no page in), whatever the
/// table's root is.
/// \param table    an opened table
/// \param pointers into the memory; null pointers are allowed
/// \param count    how many
/// \param places   gets a place for each; SUKIMA_PLACE_ANY for pages that were not touched yet or do not
///                 exist, if the kernel or a sandbox refuses the answer, and on a machine with one domain
/// \par Complexity on machines with more than one domain one system call for each 256 pointers: 0.6 µs for
///                 one pointer, 0.2 to 0.4 µs each for 256
SUKIMA_CAPACITY_API void sukima_place_table_of_memory(const sukima_place_table* table,
                                                      const void* const* pointers, size_t count,
                                                      sukima_place* places);

/// Writes the name of a place: "core 3", "machine"; "any" for SUKIMA_PLACE_ANY.
/// \param table  an opened table
/// \param place  one of its places
/// \param memory gets the text, ended by a zero; cut off if it does not fit
/// \param size   of the memory, at least 1; 32 is enough
/// \return the length of the text
SUKIMA_CAPACITY_API size_t sukima_place_table_text(const sukima_place_table* table, sukima_place place,
                                                   char* memory, size_t size);

/// Returns the name of a level: "machine", "numa_domain", "ll_cache", "core", as in OpenMP's OMP_PLACES;
/// "unknown" for other values.
SUKIMA_CAPACITY_API const char* sukima_place_level_name(sukima_place_level level);

/// Returns the place of the calling thread: sukima_place_table_of_cpu() of its CPU, at this level or a larger
/// one. The kernel may move the thread at any moment.
/// \param level the level
/// \return the machine if the kernel does not say
/// \par Complexity about 10 ns after the first call in the process, which reads the table
SUKIMA_CAPACITY_API sukima_place sukima_here(sukima_place_level level);

/// Calls sukima_place_table_usable() for the running machine.
/// \param level    the level
/// \param places   gets the places, as far as they fit; may be NULL if `capacity` is 0
/// \param capacity how many fit
/// \return how many there are: at least 1
/// \par Complexity as sukima_place_table_usable()
SUKIMA_CAPACITY_API size_t sukima_places(sukima_place_level level, sukima_place* places, size_t capacity);

/// Returns the NUMA domain whose memory holds a page; see sukima_place_table_of_memory(), which takes many
/// pages at once.
/// \param pointer into the page
/// \return SUKIMA_PLACE_ANY if it is unknown, or there is one domain only
/// \par Complexity one system call, 0.6 µs; none on a machine with one domain
SUKIMA_CAPACITY_API sukima_place sukima_place_of(const void* pointer);

/// @}

#ifdef __cplusplus
}
#endif

#endif
