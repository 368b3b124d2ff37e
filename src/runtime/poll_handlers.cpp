// SPDX-License-Identifier: Apache-2.0
// The handlers of a slow poll, in their order (choice/poll.hpp).
//
// The first four may stop the fiber and let it continue on another worker; then the list begins again. Aborts
// come first, so that the other handlers take them into account. A worker that is called home answers neither
// nodes nor hints. Thieves get work only once the fiber stays on its worker: first the thief with a request,
// then the thieves that take published tasks.
#include "cancel/poll_abort.hpp"
#include "choice/poll.hpp"
#include "control/poll_leave.hpp"
#include "place/poll_hints.hpp"
#include "remote/poll_remote.hpp"
#include "steal/publish.hpp"

namespace sukima::detail {

const std::array<poll_handler, 7> poll_handlers{check_abort,      leave_for_home,   answer_node,
                                                exchange_by_hint, reply_to_request, publish_work,
                                                stop_aborted_loop};

}  // namespace sukima::detail
