// SPDX-License-Identifier: Apache-2.0
// Codecs made of cereal's functions.
#include <sukima/transfer_cereal.hpp>

#include <gtest/gtest.h>
#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include <map>
#include <string>

namespace {

struct person {
  std::string name;
  int age = 0;
  std::map<std::string, std::vector<double>> results;
  template <class Archive> void serialize(Archive& archive) { archive(name, age, results); }
  bool operator==(const person&) const = default;
};
struct plain {
  int a;
  double b;
  template <class Archive> void serialize(Archive& archive) { archive(a, b); }
};
struct unknown {
  std::string text;
  void* where;
};

static_assert(sukima::has_codec<person> && sukima::has_codec<std::string>);
static_assert(sukima::can_be_copied<plain> && !sukima::can_travel<unknown>);

TEST(cereal, encoded_messages_come_back) {
  const person sent{"Ada", 36, {{"first", {1.5, 2.5}}, {"second", {}}}};
  std::vector<std::byte> bytes;
  sukima::codec<person>::encode(sent, bytes);
  EXPECT_EQ(sukima::codec<person>::decode(bytes), sent);
  EXPECT_THROW(sukima::codec<person>::decode(std::span(bytes).first(bytes.size() / 2)), cereal::Exception);
}

}  // namespace
