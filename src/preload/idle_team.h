// SPDX-License-Identifier: Apache-2.0
// A team of sleeping threads in gcc's OpenMP runtime. That runtime lets idle threads spin for milliseconds as
// long as it manages no more threads than there are CPUs, and for a moment only if there are more (see
// GOMP_SPINCOUNT in its manual). With an idle team there are more.
#ifndef SUKIMA_PRELOAD_IDLE_TEAM_H
#define SUKIMA_PRELOAD_IDLE_TEAM_H

/// Makes the team, in a thread of its own, unless there is one; it is complete a moment later. Nothing
/// happens if the caller's runtime is not gcc's or no thread can be made. One thread at a time calls this and
/// idle_team_end().
/// \param caller an address inside of what is linked with the runtime
void idle_team_begin(const void* caller);

/// Lets the team go, if there is one.
void idle_team_end(void);

#endif
