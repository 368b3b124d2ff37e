// SPDX-License-Identifier: Apache-2.0
// Sleeping threads that make gcc's OpenMP runtime believe in oversubscription. It lets idle threads spin for
// milliseconds while it manages no more threads than there are CPUs, and only briefly if there are more (see
// GOMP_SPINCOUNT in its manual). With this team there are more.
#ifndef SUKIMA_PRELOAD_OVERSUBSCRIPTION_TEAM_H
#define SUKIMA_PRELOAD_OVERSUBSCRIPTION_TEAM_H

/// Starts the team, in a thread of its own, unless it exists; it is complete a moment later. Does nothing if
/// the caller's runtime is not gcc's or no thread can be started. Only one thread at a time may call this and
/// oversubscription_team_end().
/// \param caller an address inside the code that is linked with the runtime
void oversubscription_team_begin(const void* caller);

/// Ends the team, if it exists.
void oversubscription_team_end(void);

#endif
