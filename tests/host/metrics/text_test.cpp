// SPDX-License-Identifier: Apache-2.0
// The text format of Prometheus.
#include <gtest/gtest.h>

#include "shared/metrics.hpp"

namespace {

using namespace sukima::host;

TEST(metrics_text, has_a_head_and_the_samples_of_each_metric) {
  host_metrics all;
  all.vms.push_back({.name = "db", .usable = 1.5, .ran = 12.25, .online = 2, .offline = 1});
  all.vms.push_back({.name = "web", .usable = 2});
  const std::string text = metrics_text(all);
  EXPECT_TRUE(
      text.starts_with("# HELP sukima_vm_usable_cpus CPUs that the machine can use.\n"
                       "# TYPE sukima_vm_usable_cpus gauge\n"
                       "sukima_vm_usable_cpus{vm=\"db\"} 1.5\n"
                       "sukima_vm_usable_cpus{vm=\"web\"} 2\n"))
      << text;
  EXPECT_NE(text.find("# TYPE sukima_vm_ran_seconds_total counter\nsukima_vm_ran_seconds_total{vm=\"db\"} "
                      "12.25\n# HELP"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("sukima_vm_vcpus{vm=\"db\",state=\"offline\"} 1\n"), std::string::npos);
  // An unknown value has no sample, and a metric without samples no head.
  EXPECT_EQ(text.find("sukima_vm_used_cpus"), std::string::npos);
  EXPECT_EQ(text.find("sukima_guest_messages_total"), std::string::npos);
  EXPECT_NE(text.find("\nsukima_host_vms 2\n"), std::string::npos);
}

TEST(metrics_text, has_one_state_of_each_optimised_machine) {
  host_metrics all;
  all.vms.push_back({.name = "db", .count = 3, .state = optimiser_state::rest});
  const std::string text = metrics_text(all);
  EXPECT_NE(text.find("sukima_vm_count{vm=\"db\"} 3\n"), std::string::npos);
  EXPECT_NE(text.find("{vm=\"db\",state=\"rest\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("{vm=\"db\",state=\"try\"} 0\n"), std::string::npos);
}

TEST(metrics_text, counts_acts_and_messages) {
  host_metrics all;
  all.acts[act_kind::vcpus] = {.proved = 4, .failed = 1};
  all.messages = guest_inbox::counts{.taken = 10, .malformed = 2, .too_many = 3};
  const std::string text = metrics_text(all);
  EXPECT_NE(text.find("sukima_host_acts_total{kind=\"vcpus\",result=\"proved\"} 4\n"), std::string::npos);
  EXPECT_NE(text.find("sukima_host_acts_total{kind=\"vcpus\",result=\"failed\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("sukima_guest_messages_total{result=\"malformed\"} 2\n"), std::string::npos);
}

TEST(metrics_text, a_name_cannot_end_its_label) {
  host_metrics all;
  all.vms.push_back({.name = "a\"} 1\nb\\", .usable = 1});
  EXPECT_NE(metrics_text(all).find("{vm=\"a\\\"} 1\\nb\\\\\"} 1\n"), std::string::npos);
}

}  // namespace
