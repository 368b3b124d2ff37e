// SPDX-License-Identifier: Apache-2.0
// Writing and reading SUKIMA_RUN.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include <preload/shared/settings.h>

namespace {

TEST(preload_settings, understands_everything_that_sukima_run_writes) {
  preload_settings s{};
  ASSERT_TRUE(preload_read_settings(
      "threads=3 active=4 min=2 max=8 round=1 reserve=500 fixed=1 resize=2 waiting=2 cpus=16 ranks=4 "
      "first=12345 log=/tmp/a file",
      &s));
  EXPECT_EQ(s.threads, 3U);
  EXPECT_EQ(s.minimum, 2U);
  EXPECT_EQ(s.maximum, 8U);
  EXPECT_EQ(s.rounding, 1U);
  EXPECT_EQ(s.reserve_thousandths, 500U);
  EXPECT_EQ(s.fixed, 1U);
  EXPECT_EQ(s.resize, static_cast<unsigned>(preload_resize_always));
  EXPECT_EQ(s.waiting, static_cast<unsigned>(preload_waiting_short));
  EXPECT_EQ(s.active, 4U);
  EXPECT_EQ(s.cpus, 16U);
  EXPECT_EQ(s.ranks, 4U);
  EXPECT_EQ(s.first, 12345U);
  EXPECT_STREQ(s.log, "/tmp/a file");
}

TEST(preload_settings, writes_what_it_reads) {
  const std::string text =
      "threads=3 active=4 min=2 max=8 round=1 reserve=500 fixed=1 resize=2 waiting=2 cpus=16 ranks=4 "
      "first=12345";
  preload_settings s{};
  ASSERT_TRUE(preload_read_settings(text.c_str(), &s));
  char written[200];
  EXPECT_EQ(preload_write_settings(&s, written, sizeof written), text.size());
  EXPECT_EQ(written, text);
  char little[10];
  EXPECT_EQ(preload_write_settings(&s, little, sizeof little), text.size());
  EXPECT_STREQ(little, "threads=3");
  EXPECT_EQ(preload_write_settings(&s, nullptr, 0), text.size());
}

TEST(preload_settings, does_nothing_where_nothing_is_said) {
  preload_settings s{};
  EXPECT_FALSE(preload_read_settings(nullptr, &s));
  EXPECT_EQ(s.threads, 0U);
  EXPECT_FALSE(preload_read_settings("", &s));
  EXPECT_FALSE(preload_read_settings("threads=0", &s));
}

TEST(preload_settings, does_nothing_where_something_is_not_understood) {
  for (const char* const text :
       {"threads", "threads=", "threads=x", "threads=2x", "threads=2,min=1", "threads=-1",
        "threads=99999999999", "threads=2 what=1", "threads=2 resize=3", "threads=2 waiting=4",
        "threads=2  min=1", "threads=2 reserve=0.5", "=", " threads=2"}) {
    preload_settings s{};
    EXPECT_FALSE(preload_read_settings(text, &s)) << text;
    EXPECT_EQ(s.threads, 0U) << text;
  }
}

TEST(preload_settings, survives_any_text) {
  std::mt19937 random(11);
  const std::string pieces[] = {"threads=", "min=", "log=",    "reserve=", "1",   "23",
                                " ",        "=",    "resize=", "x",        "\xff"};
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (unsigned i = 0; i < random() % 12; ++i) text += pieces[random() % std::size(pieces)];
    preload_settings s{};
    const bool active = preload_read_settings(text.c_str(), &s);
    EXPECT_EQ(active, s.threads != 0) << text;
    EXPECT_GE(s.minimum, 1U);
  }
}

}  // namespace
