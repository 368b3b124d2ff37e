// SPDX-License-Identifier: Apache-2.0
// The list of experiments.
#include <lab/shared/report.hpp>

#include <gtest/gtest.h>

#include "support.hpp"

namespace sukima::lab {
namespace {

experiment of_paper(const std::string& name, const std::string& source) {
  experiment small = parse_experiment(test::small_experiment);
  small.name = name;
  small.source = source;
  return small;
}

/// The list without what it has of each experiment but the name.
std::string names_of(const std::vector<experiment>& all) {
  std::string text, names;
  for (const char c : list_text(all) + "\n") {
    if (c != '\n') {
      text += c;
      continue;
    }
    names += text.substr(0, text.find("  ", text.find_first_not_of(' '))) + "\n";
    text.clear();
  }
  return names.substr(0, names.size() - 1);
}

TEST(lists, have_experiments_under_their_papers) {
  EXPECT_EQ(
      names_of({of_paper("other", ""), of_paper("third", "Yoda et al., figure 3"),
                of_paper("first", "Aoyagi et al., table 4"), of_paper("fourth", "Yoda et al., figure 4")}),
      "Aoyagi et al.:\n  first\nYoda et al.:\n  third\n  fourth\nno paper:\n  other\n");
}

TEST(lists, have_no_headings_without_papers) {
  EXPECT_EQ(names_of({of_paper("one", ""), of_paper("two", "")}), "one\ntwo\n");
  EXPECT_EQ(list_text({}), "");
}

}  // namespace
}  // namespace sukima::lab
