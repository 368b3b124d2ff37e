// SPDX-License-Identifier: Apache-2.0
// The output of tasks on nodes whose main prints nothing.
//
// Every node runs main, and the output of main is wanted once, from node 0. So the launcher starts the other
// nodes with stdout at /dev/null, and gives them a pipe for what their tasks print (SUKIMA_CLUSTER_OUTPUT).
// Tasks of a node run only inside its entries. So stdout is the pipe during an entry, and /dev/null outside.
#pragma once

namespace sukima::cluster {

/// Connects stdout of this process with the launcher as long as the object lives, if the launcher has asked
/// for that and the program has not given stdout another file. The constructor and the destructor flush stdio
/// and std::cout. In between stdout is line-buffered, so that a node that is killed loses no whole line.
class task_output {
 public:
  task_output();
  ~task_output();
  task_output(const task_output&) = delete;
  task_output& operator=(const task_output&) = delete;

 private:
  int outside_ = -1;  ///< stdout outside the entry; -1: it was not changed
};

}  // namespace sukima::cluster
