// SPDX-License-Identifier: Apache-2.0
// Plugging virtual CPUs in through libvirt, with a made-up domain instead of the library.
#include <gtest/gtest.h>

#include "fake_machine.hpp"
#include "shared/act.hpp"
#include "source/libvirt.hpp"

namespace {

using namespace sukima::host;

/// The domain as a test sees and changes it.
struct domain_state {
  domain_vcpus has{.present = 2, .most = 4, .ran = {{0, 50}, {1, 60}}};
  std::string refusal, unreachable;
  std::vector<unsigned> plugged;  ///< the calls
};

class fake_domain final : public libvirt_domain {
 public:
  explicit fake_domain(std::shared_ptr<domain_state> of) : of_(std::move(of)) {}
  domain_vcpus vcpus() override {
    if (!of_->unreachable.empty()) throw source_error(of_->unreachable);
    return of_->has;
  }
  void plug(unsigned count) override {
    if (!of_->refusal.empty()) throw source_error(of_->refusal);
    of_->plugged.push_back(count);
    of_->has.present = count;
    for (unsigned number = 0; of_->has.ran.size() < count; ++number) of_->has.ran.try_emplace(number, 0.01);
  }

 private:
  std::shared_ptr<domain_state> of_;
};

class libvirt_plugging : public testing::Test {
 protected:
  std::string why_not(const std::string& value) {
    try {
      one.apply(*by, "a", act_kind::plug, value, 10);
    } catch (const act_error& error) {
      EXPECT_TRUE(written.in_effect().empty()) << value;
      return error.what();
    }
    return "done";
  }

  guests::folder folder;
  journal written{folder.path / "journal"};
  actor one{written};
  std::shared_ptr<domain_state> domain = std::make_shared<domain_state>();
  std::unique_ptr<actuator> by = make_libvirt_vcpus(std::make_unique<fake_domain>(domain), "db");
};

TEST_F(libvirt_plugging, is_proved_when_each_new_one_has_run) {
  const receipt done = one.apply(*by, "a", act_kind::plug, "4", 10);
  EXPECT_EQ(domain->plugged, std::vector<unsigned>{4});
  EXPECT_EQ(done.change.target, "the domain db");
  EXPECT_EQ(done.change.before, "2");
  domain->has.ran = {{0, 70}, {1, 80}, {2, 0.01}, {3, 0.03}};
  EXPECT_EQ(one.verify(*by, done, 10), proof::waiting) << "one of two is not all";
  domain->has.ran[2] = 0.02;
  EXPECT_EQ(one.verify(*by, done, 10), proof::proved);
  const auto all = revert(written);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].outcome, "left");
  EXPECT_EQ(domain->plugged.size(), 1U) << "nothing is unplugged";
}

TEST_F(libvirt_plugging, is_not_proved_by_an_old_one_with_a_higher_number) {
  domain->has = {.present = 3, .most = 4, .ran = {{0, 50}, {2, 60}, {3, 70}}};
  const receipt done = one.apply(*by, "a", act_kind::plug, "4", 10);
  domain->has.ran[3] = 71;
  EXPECT_EQ(one.verify(*by, done, 10), proof::waiting) << "the new one is number 1";
  domain->has.ran[1] = 0.02;
  EXPECT_EQ(one.verify(*by, done, 10), proof::proved);
}

TEST_F(libvirt_plugging, goes_upward_only_and_as_far_as_there_is_room) {
  EXPECT_NE(why_not("1").find("the machine has 2 virtual CPUs, and none is unplugged"), std::string::npos);
  EXPECT_NE(why_not("5").find("the machine has 2 virtual CPUs and room for 4"), std::string::npos);
  EXPECT_NE(why_not("two").find("'two' is not a number of virtual CPUs"), std::string::npos);
  EXPECT_TRUE(domain->plugged.empty());
  // Another client was faster.
  domain->has.present = 4;
  EXPECT_EQ(by->apply("3", 10), EPERM);
  EXPECT_NE(by->trouble().find("none is unplugged"), std::string::npos);
  EXPECT_TRUE(domain->plugged.empty());
}

TEST_F(libvirt_plugging, says_what_libvirt_says) {
  domain->refusal = "the domain db of libvirt at qemu:///system rejects 3 virtual CPUs: no";
  EXPECT_EQ(why_not("3"), "the domain db cannot be set to 3: " + domain->refusal);
  domain->unreachable = "libvirt cannot be reached";
  EXPECT_EQ(why_not("3"), "libvirt cannot be reached");
  EXPECT_EQ(by->present(), std::nullopt);
}

TEST_F(libvirt_plugging, fails_when_the_domain_is_gone_or_its_virtual_cpus_stand_still) {
  const receipt done = one.apply(*by, "a", act_kind::plug, "3", 10);
  EXPECT_EQ(one.verify(*by, done, 14), proof::waiting);
  EXPECT_EQ(one.verify(*by, done, 15), proof::failed) << "by the deadline";
  domain->unreachable = "the domain no longer runs";
  EXPECT_EQ(by->verify("3", 11), proof::failed);
}

}  // namespace
