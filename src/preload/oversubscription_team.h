// SPDX-License-Identifier: Apache-2.0
// Adds sleeping threads that make gcc's OpenMP runtime detect oversubscription. That runtime lets idle
// threads spin for milliseconds while it manages at most as many threads as there are CPUs, and only briefly
// if there are more (see GOMP_SPINCOUNT in its manual). With this team there are more.
#ifndef SUKIMA_PRELOAD_OVERSUBSCRIPTION_TEAM_H
#define SUKIMA_PRELOAD_OVERSUBSCRIPTION_TEAM_H

/// Starts the team, in a thread of its own, unless it exists. It is complete a moment later. Does nothing if
/// the caller's runtime is not gcc's, or if no thread can be started. Only one thread at a time may call this
/// and oversubscription_team_end().
/// \param caller an address inside the code that is linked with the runtime
void oversubscription_team_begin(const void* caller);

/// Ends the team, if it exists.
void oversubscription_team_end(void);

#endif
