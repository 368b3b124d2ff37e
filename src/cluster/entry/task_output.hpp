// SPDX-License-Identifier: Apache-2.0
// The output of tasks on nodes where main prints nothing.
//
// Every node runs main, but its output should appear once, from node 0. So the launcher starts the other
// nodes with stdout at /dev/null, and gives them a pipe for the output of their tasks
// (SUKIMA_CLUSTER_OUTPUT). Tasks run only inside entries. So stdout is the pipe during an entry, and
// /dev/null outside.
#pragma once

namespace sukima::cluster {

/// While the object exists, stdout of this process is connected to the launcher, if the launcher has
/// requested that and the program has not redirected stdout itself. The constructor and the destructor flush
/// stdio and std::cout. In between stdout is line-buffered, so that no complete line is lost if the node is
/// killed.
class task_output {
 public:
  task_output();
  ~task_output();
  task_output(const task_output&) = delete;
  task_output& operator=(const task_output&) = delete;

 private:
  int outside_ = -1;  ///< the stdout outside the entry; -1: stdout was not changed
};

}  // namespace sukima::cluster
